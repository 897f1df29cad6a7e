import { resolve } from 'node:path';
import { normalizeOptions } from '../base/normalize-options.js';
import type { Journal } from '../contract/journal.js';
import { type ExecutorOptions, JOURNAL_FILE_RULES, type JournalFile } from './executor-options.js';

/** Whole outputs are kept as long as the journal that refers to them. */
export function outputsBeside(journal: ExecutorOptions['journal']): { readonly directory?: string } {
  const path = pathOfJournal(journal);
  return path === undefined ? {} : { directory: `${resolve(path)}-outputs` };
}

/** Undefined for a journal that is not stored in a file. */
export function pathOfJournal(journal: ExecutorOptions['journal'] = false): string | undefined {
  if (journal === false) return undefined;
  const file = toJournalFile(journal);
  return 'accept' in file ? file.file : file.path;
}

type FileOptions = { readonly [K in keyof JournalFile]?: JournalFile[K] | undefined };

/** The caller's own journal stays as it is. */
export function toJournalFile(
  journal: Exclude<ExecutorOptions['journal'], undefined | false>,
): FileOptions | Journal {
  if (typeof journal === 'object' && 'accept' in journal) return journal;
  return normalizeOptions(
    'journal',
    typeof journal === 'string' ? { path: journal } : journal,
    JOURNAL_FILE_RULES,
  );
}
