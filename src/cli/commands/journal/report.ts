import { InvalidArgumentError, Option } from 'commander';
import type { BatchRecord } from '../../../contract/journal.js';
import type { JournalArchive } from '../../../journal/open-archive.js';
import { sanitize } from '../../../output/sanitize.js';
import type { PageBatch } from '../../../page/page-data.js';
import { isBad, type Totals, totalsOf } from '../../../page/totals.js';
import { systemClock } from '../../../platform/clock/clock.js';
import { drawTable } from '../../../terminal/draw-table.js';
import { type CliContext, type DefineCommand, type ExitCode, UsageError } from '../../cli-context.js';
import { cut, describeDuration, describeName } from '../../display/describe-call.js';
import { createPalette, type Palette, roomOn, shortIds, writeJson } from '../../display/terminal-text.js';
import { isDatabase } from '../../journal-databases.js';
import { toPageBatch, writeRecordedPage } from '../../journal-page.js';
import { addJournalOptions, conversationName } from '../../options.js';
import { parseAge } from '../../parse-age.js';
import { isInternal, readWhole } from '../../recorded-batches.js';
import type { JournalChoice } from '../../recorded-journal.js';
import { journalIfAny, openStored, readingJournal } from '../../recorded-journal.js';

interface JournalReportOptions extends JournalChoice {
  /** In milliseconds since the epoch. */
  readonly since?: number;
  readonly conversation?: string;
  readonly html?: string;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  addJournalOptions(command)
    .description(
      'Reports recent calls, failures first: the questions and the decisions, how long calls ' +
        'waited and ran, and the questions that rules have saved.',
    )
    .option(
      '--since <age>',
      'calls since then: 1d, 12h, 90m, or a date such as 2026-11-20 (default: 1d)',
      parseSince,
    )
    .option('--conversation <id>', 'only calls of this conversation', conversationName)
    .option('--html <file>', 'as a page for a browser, written into this file (- for standard output)')
    .addOption(new Option('--json', 'as JSON').conflicts('html'))
    .addHelpText(
      'before',
      'Examples:\n  toolexec journal report\n  toolexec journal report --since 7d --html report.html\n',
    )
    .action(async (options: JournalReportOptions) => {
      finish(await reportCalls(options, context));
    });
};

/** `toolexec journal report`: the calls of a time span, as a table, JSON or a page. @throws UsageError */
export async function reportCalls(options: JournalReportOptions, context: CliContext): Promise<ExitCode> {
  const { stdout } = context.stdio;
  const until = systemClock.now();
  const since = options.since ?? until - DAY_MS;
  const path = journalIfAny(options, context);
  if (path === undefined) {
    if (options.json === true) writeJson(stdout, toJson([], since, until));
    return 0;
  }
  await readingJournal(async () => {
    const archive = await openReported(path, options, since, context);
    try {
      const batches = readSince(archive, since, options.conversation);
      if (options.html !== undefined) {
        const about = `${iso(since)} to ${iso(until)}${options.conversation === undefined ? '' : `, conversation ${options.conversation}`}`;
        await writeRecordedPage(options.html, { title: 'Report', about, batches }, archive, context);
      } else if (options.json === true) writeJson(stdout, toJson(batches, since, until));
      else {
        const short = shortIds((prefix) => archive.batches({ prefix }).map(({ id }) => id));
        stdout.write(
          describe(
            batches,
            since,
            short,
            roomOn(stdout, context.env),
            createPalette(stdout.isTerminal, context.env),
          ),
        );
      }
    } finally {
      archive.close();
    }
  });
  return 0;
}

const DAY_MS = 86_400_000;
const PAGE = 500;
/** The maximum number of batches that are read from a database. */
const MOST_FROM_DATABASE = 2_000;

/** @throws UsageError if a database has more batches since then than this limit */
async function openReported(
  place: string,
  { conversation }: JournalReportOptions,
  since: number,
  context: CliContext,
): Promise<JournalArchive> {
  const scope = { limit: MOST_FROM_DATABASE, ...(conversation === undefined ? {} : { conversation }) };
  const archive = await openStored(place, context, scope);
  const batches = isDatabase(place) ? archive.batches() : [];
  const oldest = batches[MOST_FROM_DATABASE - 1];
  if (oldest === undefined || oldest.at < since) return archive;
  archive.close();
  throw new UsageError(
    `Cannot report: the database has more than ${MOST_FROM_DATABASE} batches since then. Name a shorter time with --since, or one conversation with --conversation.`,
  );
}

/** Newest first. */
function readSince(
  archive: JournalArchive,
  since: number,
  conversation: string | undefined,
): readonly PageBatch[] {
  const found: PageBatch[] = [];
  let before: string | undefined;
  for (;;) {
    const page: readonly BatchRecord[] = archive.batches({
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
      ...(conversation === undefined ? {} : { conversation }),
    });
    const recent = page.filter(({ at }) => at >= since);
    for (const batch of recent.map((record) => readWhole(archive, record)))
      if (!isInternal(batch)) found.push(toPageBatch(batch));
    before = page.at(-1)?.id;
    if (page.length < PAGE || recent.length === 0) return found;
  }
}

function toJson(batches: readonly PageBatch[], since: number, until: number): unknown {
  const totals = totalsOf(batches);
  return {
    since: iso(since),
    until: iso(until),
    ...totals,
    asked: { ...totals.asked, medianMs: totals.asked.medianMs ?? null },
    spared: { ...totals.spared, ms: totals.spared.ms ?? null },
    problems: problemsOf(batches).map(({ batch, call }) => ({
      at: iso(call.acceptedAt),
      batch: batch.id,
      conversation: batch.conversation,
      callId: call.callId,
      toolName: call.toolName,
      outcome: call.outcome,
      code: call.error?.code ?? null,
      message: call.error?.message ?? null,
    })),
  };
}

function problemsOf(batches: readonly PageBatch[]) {
  return batches.flatMap((batch) =>
    batch.calls.filter((call) => isBad(call) && call.repeats === undefined).map((call) => ({ batch, call })),
  );
}

const MOST_PROBLEMS = 50;

function describe(
  batches: readonly PageBatch[],
  since: number,
  short: (id: string) => string,
  columns: number,
  palette: Palette,
): string {
  if (batches.length === 0) return `Nothing was delivered since ${iso(since)}.\n`;
  const totals = totalsOf(batches);
  const problems = problemsOf(batches);
  const lines = problems.slice(0, MOST_PROBLEMS).map(({ batch, call }) => {
    const sign = call.outcome === 'not run' ? palette.yellow('⊘') : palette.red('✗');
    const said = call.outcome === 'ran, cancelled' ? call.outcome : call.error?.code;
    const why = call.error === undefined ? call.outcome : `${said}: ${call.error.message}`;
    return `${sign} ${describeName(call)} ${palette.dim(`in ${short(batch.id)}, ${iso(call.acceptedAt)}`)}\n    ${cut(sanitize(why, 'inline'), 200)}\n`;
  });
  const more = problems.length > lines.length ? `and ${problems.length - lines.length} more\n` : '';
  const table = drawTable({ head: HEAD, rows: totals.tools.map(toCells), columns, palette });
  const parts = [`${lines.join('')}${more}`, table, sums(totals, since)];
  return parts.filter((part) => part !== '').join('\n');
}

const HEAD = ['TOOL', 'CALLS', 'OK', 'FAILED', 'CANCELLED', 'NOT RUN', 'MEDIAN', 'RAN'];

function toCells({ toolName, calls, outcomes, medianMs, ranMs }: Totals['tools'][number]): readonly string[] {
  return [
    cut(sanitize(toolName, 'inline'), 40),
    String(calls),
    String(outcomes.ok),
    String(outcomes.failed + outcomes.unknown),
    String(outcomes['ran, cancelled']),
    String(outcomes['not run']),
    describeDuration(medianMs),
    describeDuration(ranMs),
  ];
}

function sums({ batches, calls, outcomes, ranMs, asked, spared }: Totals, since: number): string {
  const open = outcomes.running + outcomes.queued;
  const waits = outcomes.waits === 0 ? '' : `, ${outcomes.waits} wait for you (toolexec waiting)`;
  const inAdvance = asked.inAdvance === 0 ? '' : `; ${asked.inAdvance} decided in advance`;
  const took =
    asked.medianMs === undefined ? '' : `, answered in ${describeDuration(asked.medianMs)} (median)`;
  const saved = spared.ms === undefined ? '' : `, which saves about ${describeDuration(spared.ms)}`;
  return [
    `${count(calls, 'call')} in ${count(batches, 'batch', 'batches')} since ${iso(since)}: ran ${describeDuration(ranMs)}${open === 0 ? '' : `, ${open} under way`}${waits}`,
    `asked ${asked.calls}: ${asked.approved} agreed, ${asked.refused} refused, ${asked.open} open${took}${inAdvance}`,
    `not asked because of rules: ${spared.calls}${saved}`,
    '',
  ].join('\n');
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

function iso(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** An age, or a point in time. */
function parseSince(text: string): number {
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) {
    const at = Date.parse(text);
    if (!Number.isNaN(at)) return at;
    throw new InvalidArgumentError('Write a date such as 2026-11-20, or 2026-11-20T08:00:00Z.');
  }
  return systemClock.now() - parseAge(text);
}
