import type { Logger } from '../contract/context.js';
import type { Journal } from '../contract/journal.js';
import { createMemoryJournal } from '../journal/memory/memory-journal.js';
import { openJournal } from '../journal/open-journal.js';
import { createDigest } from '../journal/redaction/journal-secret.js';
import { createRedactingJournal } from '../journal/redaction/redacting-journal.js';
import { parseRedaction, type RedactArguments } from '../journal/redaction/redaction-rules.js';
import type { ExecutorOptions } from './executor-options.js';
import { toJournalFile } from './journal-place.js';

/** A journal that was opened here is closed with the executor; the caller's own journal is not. */
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
