import { type Verification, verifyJournal } from '../../journal/verify-journal.js';
import type { JournalQueryOptions } from '../define/define-journal-queries.js';
import type { ExitCode } from '../exit-code.js';
import { readingJournal, requireJournal } from '../recorded-journal.js';
import { writeJson } from '../show/write-json.js';
import type { Surroundings } from '../surroundings.js';

/** `toolexec journal verify`: whether every record is as it was written. */
export async function checkJournalChain(
  options: JournalQueryOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { stdout } = surroundings.stdio;
  const path = requireJournal(options, surroundings);
  const found = await readingJournal(() => verifyJournal(path));
  if (options.json === true) writeJson(stdout, found);
  else stdout.write(`${describe(found)}\n`);
  return found.intact ? 0 : 1;
}

function describe(found: Verification): string {
  if (!found.intact) {
    const where = found.commit === undefined ? '' : `, from commit ${found.commit} on`;
    return `The journal is not as it was written${where}: ${found.reason}.`;
  }
  const pruned =
    found.prunes === 0 ? '' : `, pruned ${found.prunes === 1 ? 'once' : `${found.prunes} times`}`;
  return `The journal is intact: ${found.commits} commits${pruned}.\nhead ${found.head}`;
}
