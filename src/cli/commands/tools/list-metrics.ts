import type { ExternalToolMetrics } from '../../../contract/external.js';
import type { CallRecord } from '../../../contract/journal.js';
import { MetricsBook } from '../../../external/metrics.js';
import type { JournalArchive } from '../../../journal/open-archive.js';
import { sanitize } from '../../../output/sanitize.js';
import { drawTable } from '../../../terminal/draw-table.js';
import type { CliContext, ExitCode } from '../../cli-context.js';
import { createPalette, roomOn, writeJson } from '../../display/terminal-text.js';
import type { JournalChoice } from '../../recorded-journal.js';
import { journalIfAny, openRecorded, readingJournal } from '../../recorded-journal.js';

interface MetricsOptions extends JournalChoice {
  readonly json?: boolean;
}

/** `toolexec tools list --metrics`: recorded calls by tool. */
export async function listMetrics(options: MetricsOptions, context: CliContext): Promise<ExitCode> {
  const { stdout } = context.stdio;
  const path = journalIfAny(options, context);
  const measured = path === undefined ? [] : await readingJournal(() => measure(path, context));
  if (options.json === true) {
    writeJson(stdout, measured);
    return 0;
  }
  const palette = createPalette(stdout.isTerminal, context.env);
  const columns = roomOn(stdout, context.env);
  stdout.write(drawTable({ head: HEAD, rows: measured.map(toRow), columns, palette }));
  return 0;
}

interface MeasuredTool {
  readonly name: string;
  readonly metrics: ExternalToolMetrics;
}

function measure(path: string, context: CliContext): MeasuredTool[] {
  const archive = openRecorded(path, context);
  try {
    const book = new MetricsBook();
    const names = new Set<string>();
    for (const call of recordedCalls(archive)) {
      const { toolName, result } = call;
      const startedAt = startOf(call);
      if (startedAt === undefined || result === undefined) continue;
      const failure = result.success ? undefined : result.error.code;
      names.add(toolName);
      book.record(toolName, startedAt, result.executionTimeMs, failure);
    }
    return [...names].sort().map((name) => ({ name, metrics: book.read(name) }));
  } finally {
    archive.close();
  }
}

/** The start of a reading call is not recorded; its result shows whether it ran. */
function startOf({ startedAt, finishedAt, result }: CallRecord): number | undefined {
  if (startedAt !== undefined || finishedAt === undefined || result === undefined) return startedAt;
  if (!result.success && result.error.details?.executed === 'no') return undefined;
  return finishedAt - result.executionTimeMs;
}

function* recordedCalls(archive: JournalArchive): Iterable<CallRecord> {
  for (const conversation of archive.conversations()) {
    for (const entry of archive.history(conversation)) {
      if (entry.kind === 'message') continue;
      // A repeated delivery shows the call of the batch that ran it.
      yield* archive.calls(entry.id).filter(({ batchId }) => batchId === entry.id);
    }
  }
}

const HEAD = ['TOOL', 'RUNS', 'OK', 'FAILED', 'AVERAGE', 'P50', 'P95', 'P99', 'LAST', 'WHY IT FAILED'];

function toRow({ name, metrics }: MeasuredTool): string[] {
  const { totalExecutions, successfulExecutions, failedExecutions, averageDurationMs } = metrics;
  const { percentilesMs, lastExecutedAt, failures } = metrics;
  const reasons = Object.entries(failures).toSorted(([, one], [, other]) => other - one);
  return [
    sanitize(name, 'inline'),
    String(totalExecutions),
    String(successfulExecutions),
    String(failedExecutions),
    inTime(averageDurationMs),
    inTime(percentilesMs?.p50),
    inTime(percentilesMs?.p95),
    inTime(percentilesMs?.p99),
    lastExecutedAt?.slice(0, 19).replace('T', ' ') ?? '',
    reasons.map(([code, count]) => `${code} ${count}`).join(', '),
  ];
}

function inTime(ms: number | undefined): string {
  if (ms === undefined) return '';
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
