import { acceptJournal, type Verification, verifyJournal } from '../../../journal/verify-journal.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { writeJson } from '../../display/terminal-text.js';
import { addJournalOptions } from '../../options.js';
import type { JournalChoice } from '../../recorded-journal.js';
import { readingJournal, recordedOrLost } from '../../recorded-journal.js';

interface JournalVerifyOptions extends JournalChoice {
  readonly json?: boolean;
  readonly accept?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  addJournalOptions(command)
    .option('--accept', 'accept the missing records of a journal that was restored or removed on purpose')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec journal verify\n  toolexec journal verify --accept\n')
    .addHelpText('after', '\nExit code: 0 it is intact; 1 a record was changed, removed, moved or lost.\n')
    .action(async (options: JournalVerifyOptions) => {
      finish(await checkJournalChain(options, context));
    });
};

/** `toolexec journal verify`: checks that every record is unchanged. */
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

/** The result for an empty journal. */
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
    return `The journal was changed${where}: ${found.reason}.`;
  }
  if (found === EMPTY) return 'There is nothing to verify.';
  const pruned =
    found.prunes === 0 ? '' : `, pruned ${found.prunes === 1 ? 'once' : `${found.prunes} times`}`;
  return `The journal is intact: ${found.commits} commits${pruned}.\nhead ${found.head}`;
}
