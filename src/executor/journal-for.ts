import { resolve } from 'node:path';
import { normalizeOptions } from '../base/normalize-options.js';
import type { Logger } from '../contract/context.js';
import type { Journal } from '../contract/journal.js';
import { createMemoryJournal } from '../journal/memory/memory-journal.js';
import { openJournal } from '../journal/open-journal.js';
import { createDigest } from '../journal/redaction/journal-secret.js';
import { createRedactingJournal } from '../journal/redaction/redacting-journal.js';
import { parseRedaction, type RedactArguments } from '../journal/redaction/redaction-rules.js';
import { type ExecutorOptions, JOURNAL_FILE_RULES, type JournalFile } from './executor-options.js';

/** A journal that was opened here is closed with the executor; the caller's own is not. */
export function journalFor(
  given: ExecutorOptions['journal'],
  logger: Logger,
): { readonly journal: Journal | null; readonly close: () => Promise<void> | void } {
  if (given === false) return { journal: null, close() {} };
  const file = given === undefined ? {} : toJournalFile(given);
  if ('accept' in file) return { journal: file, close() {} };
  const { path, onLoss = 'warn', redactArguments = false } = file;
  const journal =
    path === undefined ? openMemory(redactArguments) : openJournal(path, { onLoss, redactArguments, logger });
  return { journal, close: () => journal.close() };
}

function openMemory(redactArguments: RedactArguments): Journal {
  const journal = createMemoryJournal();
  const rules = parseRedaction(redactArguments);
  return rules === undefined ? journal : createRedactingJournal(journal, rules, createDigest(undefined));
}

/** Whole outputs are kept as long as the journal that names them. */
export function outputsBeside(journal: ExecutorOptions['journal']): { readonly directory?: string } {
  const path = pathOfJournal(journal);
  return path === undefined ? {} : { directory: `${resolve(path)}-outputs` };
}

/** Undefined for a journal that is not in a file of toolexec. */
export function pathOfJournal(journal: ExecutorOptions['journal'] = false): string | undefined {
  if (journal === false) return undefined;
  const file = toJournalFile(journal);
  return 'accept' in file ? undefined : file.path;
}

type FileOptions = { readonly [K in keyof JournalFile]?: JournalFile[K] | undefined };

/** The caller's own journal stays as it is. */
function toJournalFile(
  journal: Exclude<ExecutorOptions['journal'], undefined | false>,
): FileOptions | Journal {
  if (typeof journal === 'object' && 'accept' in journal) return journal;
  return normalizeOptions(
    'journal',
    typeof journal === 'string' ? { path: journal } : journal,
    JOURNAL_FILE_RULES,
  );
}
