import { isDeepStrictEqual } from 'node:util';
import type { ToolResult } from '../contract/call.js';
import type { CallRecord, Journal } from '../contract/journal.js';
import { discarded } from '../executor/record/attach.js';
import { findConversations } from '../journal/find-conversations.js';
import { openJournal } from '../journal/open-journal.js';
import type { FindResult } from '../protocols/repair/repair-history.js';

export interface RecordedResults {
  find(...call: Parameters<FindResult>): Promise<ToolResult | undefined>;
  close(): Promise<void>;
}

/**
 * Looks results up in a journal's file: of one conversation; or, where that is not known, of all that hold a call of
 * that id, name and arguments. A made-up id names no call: every call of the conversation that a made-up id was given,
 * with that name and these arguments, may be meant. The result is given only if all that may be meant have the same.
 */
export function findRecorded(path: string, conversation: string | undefined): RecordedResults {
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
