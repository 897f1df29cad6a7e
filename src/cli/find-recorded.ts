import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../contract/json.js';
import type { ToolResult } from '../contract/result.js';
import { discarded } from '../executor/record/attach.js';
import { findConversations } from '../journal/find-conversations.js';
import { openJournal } from '../journal/open-journal.js';

export interface RecordedResults {
  find(callId: string, toolName: string, args: JsonObject): Promise<ToolResult | undefined>;
  close(): Promise<void>;
}

/**
 * Looks results up in a journal's file: of one conversation; or, where that is not known, of all that hold a call of
 * that id, name and arguments, if they are of one mind.
 */
export function findRecorded(path: string, conversation: string | undefined): RecordedResults {
  const journal = openJournal(path);
  return {
    async find(callId, toolName, args) {
      const names = conversation === undefined ? findConversations(path, callId) : [conversation];
      const found: ToolResult[] = [];
      for (const name of names) {
        const record = await journal.find(name, callId);
        if (record?.result === undefined || record.toolName !== toolName) continue;
        if (!isDeepStrictEqual(record.args, args)) continue;
        found.push(record.decision === 'discard' ? discarded(record.result) : record.result);
      }
      const [first, ...rest] = found;
      // An id that comes back with another answer names no call in particular.
      return rest.every((other) => isSameAnswer(first, other)) ? first : undefined;
    },
    close: async () => journal.close(),
  };
}

function isSameAnswer(one: ToolResult | undefined, other: ToolResult): boolean {
  return one?.output === other.output && isDeepStrictEqual(one.error, other.error);
}
