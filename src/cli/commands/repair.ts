import { isDeepStrictEqual } from 'node:util';
import type { ToolResult } from '../../contract/call.js';
import type { CallRecord, Journal } from '../../contract/journal.js';
import { isToolError } from '../../errors/tool-error.js';
import { discarded } from '../../executor/record/attach.js';
import { findConversations } from '../../journal/find-conversations.js';
import { openJournal } from '../../journal/open-journal.js';
import { sanitize } from '../../output/sanitize.js';
import type { HistoryChange } from '../../protocols/repair/change.js';
import type { FindResult } from '../../protocols/repair/repair-history.js';
import { type RepairedHistory, repairHistory } from '../../protocols/repair/repair-history.js';
import type { CliContext } from '../cli-context.js';
import { UsageError } from '../cli-context.js';
import type { RepairCommandOptions } from '../define/define-repair.js';
import { toSafeJson } from '../display/terminal-text.js';
import type { ExitCode } from '../exit-code.js';
import { readSource } from '../read-input.js';
import { recordedJournal } from '../recorded-journal.js';

/** `toolexec repair`: a conversation in, the same one sound out. @throws UsageError when it is none. */
export async function repairConversation(
  source: string | undefined,
  options: RepairCommandOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdout, stderr } = context.stdio;
  const journal = recordedJournal(options, context);
  const { name, text } = await readSource(source, context.stdio, true);
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

interface RecordedResults {
  find(...call: Parameters<FindResult>): Promise<ToolResult | undefined>;
  close(): Promise<void>;
}

/**
 * Looks results up in a journal's file: of one conversation; or, where that is not known, of all that hold a call of
 * that id, name and arguments. A made-up id names no call: every call of the conversation that a made-up id was given,
 * with that name and these arguments, may be meant. The result is given only if all that may be meant have the same.
 */
function findRecorded(path: string, conversation: string | undefined): RecordedResults {
  const journal = openJournal(path);
  return {
    async find(callId, toolName, args, madeUp) {
      const names = conversation === undefined ? findConversations(path, callId) : [conversation];
      const found: (ToolResult | undefined)[] = [];
      for (const name of names) {
        const record = await journal.find(name, callId);
        // Where the call of this id has no result, or is another, that of another conversation may have one.
        const named = record?.result === undefined ? [] : [record];
        const meant = madeUp ? [...named, ...(await findMadeUp(journal, name))] : named;
        for (const { toolName: recorded, args: asked, result, decision } of meant) {
          if (recorded !== toolName || !isDeepStrictEqual(asked, args)) continue;
          found.push(decision === 'discard' && result !== undefined ? discarded(result) : result);
        }
      }
      const [first, ...rest] = found;
      // What comes back with another answer, or without one, names no call in particular.
      return rest.every((other) => isSameAnswer(first, other)) ? first : undefined;
    },
    close: async () => journal.close(),
  };
}

async function findMadeUp(journal: Journal, conversation: string): Promise<readonly CallRecord[]> {
  const batches = await journal.batches({ conversation });
  const calls = await Promise.all(batches.map(({ id }) => journal.batch(id)));
  return calls.flat().filter(({ madeUp }) => madeUp === true);
}

function isSameAnswer(one: ToolResult | undefined, other: ToolResult | undefined): boolean {
  return one?.output === other?.output && isDeepStrictEqual(one?.error, other?.error);
}
