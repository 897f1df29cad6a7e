import { acceptJournal, type Verification, verifyJournal } from '../../../journal/verify-journal.js';
import type { CliContext } from '../../cli-context.js';
import type { JournalVerifyOptions } from '../../define/define-journal-queries.js';
import { writeJson } from '../../display/terminal-text.js';
import type { ExitCode } from '../../exit-code.js';
import { readingJournal, recordedOrLost } from '../../recorded-journal.js';

/** `toolexec journal verify`: whether every record is as it was written. */
export async function checkJournalChain(
  options: JournalVerifyOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdout } = context.stdio;
  const path = recordedOrLost(options, context);
  const verify = options.accept === true ? acceptJournal : verifyJournal;
  const found = path === undefined ? EMPTY : await readingJournal(() => verify(path));
  if (options.json === true) writeJson(stdout, found);
  else stdout.write(`${describe(found)}\n`);
  return found.intact ? 0 : 1;
}

/** What an empty one is found to be. */
const EMPTY: Verification = { intact: true, commits: 0, head: '', prunes: 0 };

function describe(found: Verification): string {
  if (!found.intact && found.lost === true) {
    return (
      `The journal has lost commits: ${found.reason}. Calls of these commits may run again.\n` +
      'Restore the newest copy; or, if it was restored or removed on purpose: toolexec journal verify --accept'
    );
  }
  if (!found.intact) {
    const where = found.commit === undefined ? '' : `, from commit ${found.commit} on`;
    return `The journal is not as it was written${where}: ${found.reason}.`;
  }
  if (found === EMPTY) return 'There is nothing to verify.';
  const pruned =
    found.prunes === 0 ? '' : `, pruned ${found.prunes === 1 ? 'once' : `${found.prunes} times`}`;
  return `The journal is intact: ${found.commits} commits${pruned}.\nhead ${found.head}`;
}
