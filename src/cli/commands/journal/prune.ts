import { type Pruned, pruneJournal } from '../../../journal/prune-journal.js';
import { systemClock } from '../../../platform/clock.js';
import type { CliContext } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import type { JournalPruneOptions } from '../../define/define-journal-queries.js';
import { writeJson } from '../../display/terminal-text.js';
import type { ExitCode } from '../../exit-code.js';
import { journalIfAny, readingJournal } from '../../recorded-journal.js';

/** `toolexec journal prune`: takes out what is old and settled. @throws UsageError */
export async function pruneRecords(options: JournalPruneOptions, context: CliContext): Promise<ExitCode> {
  const { stdout } = context.stdio;
  const { olderThan, maxSize, dryRun = false } = options;
  if (olderThan === undefined && maxSize === undefined) {
    throw new UsageError('Say what is too old or too much: --older-than 30d, --max-size 100MB, or both.');
  }
  const path = journalIfAny(options, context);
  const at = systemClock.now();
  const limits = {
    at,
    dryRun,
    ...(olderThan === undefined ? {} : { before: at - olderThan }),
    ...(maxSize === undefined ? {} : { maxBytes: maxSize }),
  };
  const pruned = path === undefined ? NOTHING : await readingJournal(() => pruneJournal(path, limits));
  if (options.json === true) writeJson(stdout, { ...pruned, dryRun });
  else stdout.write(`${describe(pruned, dryRun)}\n`);
  return 0;
}

const NOTHING: Pruned = {
  batches: 0,
  calls: 0,
  messages: 0,
  bytesBefore: 0,
  bytesAfter: 0,
  shrunk: false,
};

function describe(pruned: Pruned, dryRun: boolean): string {
  const { batches, calls, messages, bytesBefore, bytesAfter, shrunk } = pruned;
  if (batches + messages === 0) return 'There is nothing to take out.';
  const what = `${batches} batches with ${calls} calls, and ${messages} messages`;
  const sizes = `${megabytes(bytesBefore)} before, ${megabytes(bytesAfter)} after`;
  if (dryRun) return `Would take out ${what}: ${sizes}.`;
  const room = shrunk ? '' : ' Others use the file: its free room stays in it, for what comes next.';
  return `Took out ${what}: ${sizes}.${room}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}
