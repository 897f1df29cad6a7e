import { InvalidArgumentError } from 'commander';
import type { Pruned, PruneLimits } from '../../../contract/pruning.js';
import { pruneJournal } from '../../../journal/prune-journal.js';
import { systemClock } from '../../../platform/clock/clock.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import { writeJson } from '../../display/terminal-text.js';
import { isDatabase } from '../../journal-databases.js';
import { openStore } from '../../journal-store.js';
import { addJournalOptions } from '../../options.js';
import { parseAge } from '../../parse-age.js';
import type { JournalChoice } from '../../recorded-journal.js';
import { isRecorded, journalIfAny, readingJournal } from '../../recorded-journal.js';

interface JournalPruneOptions extends JournalChoice {
  readonly json?: boolean;
  /** In milliseconds. */
  readonly olderThan?: number;
  /** In bytes. */
  readonly maxSize?: number;
  readonly dryRun?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  addJournalOptions(command)
    .description(
      'Removes finished batches, oldest first, by age, by size or both. A removed call runs again when it is ' +
        'delivered again. Unfinished batches and the newest batch stay.',
    )
    .option('--older-than <age>', 'batches that finished longer ago than this: 30d, 12h, 90m, 45s', parseAge)
    .option(
      '--max-size <size>',
      'the oldest batches, until the rest has at most this size: 100MB, 500KB, 1GB',
      parseSize,
    )
    .option('--dry-run', 'report what would be removed, remove nothing')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      'Examples:\n  toolexec journal prune --older-than 30d --dry-run\n  toolexec journal prune --max-size 100MB\n',
    )
    .action(async (options: JournalPruneOptions) => {
      finish(await pruneRecords(options, context));
    });
};

/** `toolexec journal prune`: removes old, finished records. @throws UsageError */
export async function pruneRecords(options: JournalPruneOptions, context: CliContext): Promise<ExitCode> {
  const { stdout } = context.stdio;
  const { olderThan, maxSize, dryRun = false } = options;
  if (olderThan === undefined && maxSize === undefined) {
    throw new UsageError('Say what to remove: --older-than 30d, --max-size 100MB, or both.');
  }
  const path = journalIfAny(options, context);
  const at = systemClock.now();
  const limits = {
    dryRun,
    ...(olderThan === undefined ? {} : { before: at - olderThan }),
    ...(maxSize === undefined ? {} : { maxBytes: maxSize }),
  };
  const isEmpty = path === undefined || !isRecorded(path);
  const pruned = isEmpty ? NOTHING : await readingJournal(() => pruneAt(path, limits, at));
  if (options.json === true) writeJson(stdout, { ...pruned, dryRun });
  else stdout.write(`${describe(pruned, dryRun, path !== undefined && isDatabase(path))}\n`);
  return 0;
}

async function pruneAt(place: string, limits: PruneLimits, at: number): Promise<Pruned> {
  if (!isDatabase(place)) return pruneJournal(place, { ...limits, at });
  const journal = await openStore(place);
  try {
    return (await journal.prune?.(limits, at)) ?? NOTHING;
  } finally {
    await journal.close();
  }
}

const NOTHING: Pruned = {
  batches: 0,
  calls: 0,
  messages: 0,
  blobs: 0,
  bytesBefore: 0,
  bytesAfter: 0,
  shrunk: false,
};

function describe(pruned: Pruned, dryRun: boolean, isInDatabase: boolean): string {
  const { batches, calls, messages, bytesBefore, bytesAfter, shrunk } = pruned;
  if (batches + messages === 0) return 'There is nothing to remove.';
  const what = `${batches} batches with ${calls} calls, and ${messages} messages`;
  const sizes = `${megabytes(bytesBefore)} before, ${megabytes(bytesAfter)} after`;
  if (dryRun) return `Would remove ${what}: ${sizes}.`;
  const used = isInDatabase ? ' The database reuses the freed space.' : FILE_IN_USE;
  const room = shrunk ? '' : used;
  return `Removed ${what}: ${sizes}.${room}`;
}

const FILE_IN_USE =
  ' Other processes use the file: it keeps its size, and later records reuse the freed space.';

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}

const BYTES: Readonly<Record<string, number>> = { '': 1, K: 1000, M: 1e6, G: 1e9 };
const BINARY: Readonly<Record<string, number>> = { K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

function parseSize(text: string): number {
  const [, count, unit = '', binary] = /^(\d+(?:\.\d+)?) ?([KMG]?)(i?)B?$/i.exec(text) ?? [];
  const factor = (binary === '' ? BYTES : BINARY)[unit.toUpperCase()];
  if (count !== undefined && factor !== undefined) return Math.floor(Number(count) * factor);
  throw new InvalidArgumentError('Write a number and B, KB, MB or GB: 100MB.');
}
