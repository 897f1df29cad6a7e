import { isToolError } from '../../errors/tool-error.js';
import { sanitize } from '../../output/sanitize.js';
import type { HistoryChange } from '../../protocols/repair/change.js';
import { type RepairedHistory, repairHistory } from '../../protocols/repair/repair-history.js';
import type { RepairCommandOptions } from '../define/define-repair.js';
import type { ExitCode } from '../exit-code.js';
import { findRecorded } from '../find-recorded.js';
import { readSource } from '../input/read-source.js';
import { recordedJournal } from '../recorded-journal.js';
import { toSafeJson } from '../show/to-safe-json.js';
import type { Surroundings } from '../surroundings.js';
import { UsageError } from '../usage-error.js';

/** `toolexec repair`: a conversation in, the same one sound out. @throws UsageError when it is none. */
export async function repairConversation(
  source: string | undefined,
  options: RepairCommandOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { stdout, stderr } = surroundings.stdio;
  const journal = recordedJournal(options, surroundings);
  const { name, text } = await readSource(source, surroundings.stdio, true);
  const { history, changes } = await repair(name, text, journal, options);
  // A terminal is not to be driven by what it is shown.
  stdout.write(
    stdout.isTerminal ? `${toSafeJson(JSON.parse(history.replace(/^\ufeff/, '')), 2)}\n` : history,
  );
  stderr.write(options.json === true ? `${toSafeJson(changes)}\n` : describe(changes));
  return 0;
}

async function repair(
  name: string,
  text: string,
  journal: string | undefined,
  { conversation, format }: RepairCommandOptions,
): Promise<RepairedHistory<string>> {
  const recorded = journal === undefined ? undefined : findRecorded(journal, conversation);
  try {
    return await repairHistory(text, {
      ...(format === undefined ? {} : { format }),
      ...(recorded === undefined ? {} : { find: recorded.find }),
    });
  } catch (error) {
    if (isToolError(error, 'config_invalid')) {
      const problem = error.message.replace(/^Cannot repair the history: /, '');
      throw new UsageError(`Cannot repair ${name}: ${problem}`, { cause: error });
    }
    if (isToolError(error, 'journal_unavailable')) throw new UsageError(error.message, { cause: error });
    throw error;
  } finally {
    await recorded?.close();
  }
}

function describe(changes: readonly HistoryChange[]): string {
  const lines = changes.map(({ at, message }) => `toolexec: [${at}] ${sanitize(message, 'inline')}\n`);
  return lines.length === 0 ? 'toolexec: nothing to mend\n' : lines.join('');
}
