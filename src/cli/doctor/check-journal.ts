import { isToolError } from '../../errors/tool-error.js';
import { findJournalLoss } from '../../journal/verify-journal.js';
import { probePlace } from '../../platform/probe-place.js';
import { journalPlace } from '../journal-place.js';
import { UsageError } from '../usage-error.js';
import type { Check } from './check.js';

const LITTLE_BYTES = 64 * 1024 * 1024;

/** Whether the journal that a run would use can be written. Makes none. */
export function checkJournal(named: string | undefined, roots: readonly string[]): Check {
  let path: string;
  try {
    path = journalPlace(named, roots);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return broken(error.message, 'Choose another place with --journal, or smaller roots.');
  }
  const place = probePlace(path);
  const found = `${path}${place.exists ? '' : ' (made with the first call)'}`;
  if (!place.writable)
    return broken(`${found} cannot be written: ${place.reason}`, 'Make its directory writable for you.');
  let lost: string | undefined;
  try {
    lost = findJournalLoss(path);
  } catch (error) {
    if (!isToolError(error)) throw error;
    return broken(error.message, 'Choose another place with --journal.');
  }
  if (lost !== undefined) {
    return missing(
      `${path} has lost records: ${lost}`,
      'Calls that had run may run again.',
      'Restore the newest copy; or accept it as it is: toolexec journal verify --accept.',
    );
  }
  if (place.freeBytes !== undefined && place.freeBytes < LITTLE_BYTES) {
    return missing(
      `${found}: ${place.freeBytes} bytes are left on its disk`,
      'Calls are refused when the disk is full.',
      'Free disk space.',
    );
  }
  if (place.readableByOthers) {
    return missing(
      `${found} can be read by others`,
      'It holds arguments and results of every call.',
      `chmod 600 ${JSON.stringify(path)}`,
    );
  }
  return { name: 'journal', state: 'ok', found };
}

function broken(found: string, remedy: string): Check {
  return { name: 'journal', state: 'broken', found, costs: 'What cannot be recorded is not run.', remedy };
}

function missing(found: string, costs: string, remedy: string): Check {
  return { name: 'journal', state: 'missing', found, costs, remedy };
}
