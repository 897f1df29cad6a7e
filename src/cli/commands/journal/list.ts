import { InvalidArgumentError } from 'commander';
import type { BatchRecord, CallRecord } from '../../../contract/journal.js';
import type { JournalArchive } from '../../../journal/open-archive.js';
import type { SnapshotScope } from '../../../journal/snapshot-journal.js';
import { sanitize } from '../../../output/sanitize.js';
import { drawTable } from '../../../terminal/draw-table.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { cut, outcomeOf, type RecordedOutcome } from '../../display/describe-call.js';
import { createPalette, roomOn, shortIds, writeJson } from '../../display/terminal-text.js';
import { addJournalOptions, conversationName } from '../../options.js';
import { isInternal } from '../../recorded-batches.js';
import type { JournalChoice } from '../../recorded-journal.js';
import { journalIfAny, openStored, readingJournal } from '../../recorded-journal.js';

interface JournalListOptions extends JournalChoice {
  readonly json?: boolean;
  readonly conversation?: string;
  readonly limit?: number;
}

export const define: DefineCommand = (command, context, finish) => {
  addJournalOptions(command)
    .option('--conversation <id>', 'only batches of this conversation', conversationName)
    .option('--limit <count>', 'the maximum number (default: 20; with --json all)', parseCount)
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec journal list\n  toolexec journal list --limit 5 --json\n')
    .action(async (options: JournalListOptions) => {
      finish(await listBatches(options, context));
    });
};

const SHOWN = 20;

/** `toolexec journal list`: batches, newest first, with the outcome of their calls. */
export async function listBatches(options: JournalListOptions, context: CliContext): Promise<ExitCode> {
  const { stdout, stderr } = context.stdio;
  const path = journalIfAny(options, context);
  const limit = options.limit ?? (options.json === true ? undefined : SHOWN);
  const rows =
    path === undefined
      ? []
      : await readingJournal(async () =>
          readRows(await openStored(path, context, scopeOf(options, limit)), options.conversation, limit),
        );
  if (options.json === true) {
    writeJson(stdout, rows.map(toJson));
    return 0;
  }
  if (path !== undefined && rows.length === 0) stderr.write('toolexec: nothing is recorded\n');
  if (rows.length > 0) {
    const palette = createPalette(stdout.isTerminal, context.env);
    const columns = roomOn(stdout, context.env);
    stdout.write(drawTable({ head: HEAD, rows: rows.map(toCells), columns, palette }));
  }
  return 0;
}

function scopeOf({ conversation }: JournalListOptions, limit: number | undefined): SnapshotScope {
  return {
    ...(conversation === undefined ? {} : { conversation }),
    ...(limit === undefined ? {} : { limit }),
  };
}

interface BatchRow {
  /** The shortest unique prefix. */
  readonly shortId: string;
  readonly batch: BatchRecord;
  readonly calls: readonly CallRecord[];
}

function readRows(
  archive: JournalArchive,
  conversation: string | undefined,
  limit: number | undefined,
): BatchRow[] {
  try {
    const short = shortIds((prefix) => archive.batches({ prefix }).map(({ id }) => id));
    const rows: BatchRow[] = [];
    for (const batch of eachBatch(archive, conversation)) {
      if (rows.length === limit) break;
      const calls = archive.calls(batch.id);
      if (!isInternal({ calls })) rows.push({ batch, calls, shortId: short(batch.id) });
    }
    return rows;
  } finally {
    archive.close();
  }
}

const PAGE = 100;

/** Newest first. */
function* eachBatch(archive: JournalArchive, conversation: string | undefined): Iterable<BatchRecord> {
  const of = conversation === undefined ? {} : { conversation };
  let page = archive.batches({ ...of, limit: PAGE });
  while (page.length > 0) {
    yield* page;
    const before = page.at(-1)?.id;
    page = before === undefined ? [] : archive.batches({ ...of, limit: PAGE, before });
  }
}

const HEAD = ['WHEN', 'BATCH', 'CONVERSATION', 'CALLS', 'OUTCOME'];

function toCells({ batch, calls, shortId }: BatchRow): readonly string[] {
  const counts = Object.entries(countOutcomes(calls)).map(([outcome, count]) => `${count} ${outcome}`);
  const waits = batch.decision === 'wait' ? ['waits for you'] : [];
  return [
    new Date(batch.at).toISOString(),
    shortId,
    cut(sanitize(batch.conversation, 'inline'), 40),
    String(batch.size),
    [...counts, ...waits].join(', '),
  ];
}

function toJson({ batch, calls }: BatchRow): unknown {
  const { id, conversation, at, size, decision } = batch;
  return {
    id,
    conversation,
    at,
    size,
    decision: decision ?? null,
    outcomes: countOutcomes(calls),
    calls: calls.map((call) => ({
      callId: call.callId,
      toolName: call.toolName,
      state: call.state,
      outcome: outcomeOf(call),
    })),
  };
}

function countOutcomes(calls: readonly CallRecord[]): Partial<Record<RecordedOutcome, number>> {
  const counts: Partial<Record<RecordedOutcome, number>> = {};
  for (const call of calls) {
    const outcome = outcomeOf(call);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number from 1.');
}
