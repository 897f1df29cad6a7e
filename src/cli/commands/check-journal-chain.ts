import { type Verification, verifyJournal } from '../../journal/verify-journal.js';
import type { JournalQueryOptions } from '../define/define-journal-queries.js';
import type { ExitCode } from '../exit-code.js';
import { journalIfAny, readingJournal } from '../recorded-journal.js';
import { writeJson } from '../show/write-json.js';
import type { Surroundings } from '../surroundings.js';

/** `toolexec journal verify`: whether every record is as it was written. */
export async function checkJournalChain(
  options: JournalQueryOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { stdout } = surroundings.stdio;
  const path = journalIfAny(options, surroundings);
  const found = path === undefined ? EMPTY : await readingJournal(() => verifyJournal(path));
  if (options.json === true) writeJson(stdout, found);
  else stdout.write(`${describe(found)}\n`);
  return found.intact ? 0 : 1;
}

/** What an empty one is found to be. */
const EMPTY: Verification = { intact: true, commits: 0, head: '', prunes: 0 };

function describe(found: Verification): string {
  if (!found.intact) {
    const where = found.commit === undefined ? '' : `, from commit ${found.commit} on`;
    return `The journal is not as it was written${where}: ${found.reason}.`;
  }
  if (found === EMPTY) return 'There is nothing to verify.';
  const pruned =
    found.prunes === 0 ? '' : `, pruned ${found.prunes === 1 ? 'once' : `${found.prunes} times`}`;
  return `The journal is intact: ${found.commits} commits${pruned}.\nhead ${found.head}`;
}
