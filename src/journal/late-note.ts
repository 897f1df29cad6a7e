import type { ToolResult } from '../contract/call.js';
import type { JournalNote } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import { storeBlocks } from './stored-content.js';

/** What a finish that came too late leaves behind as evidence. */
export function lateNote(
  { error, content, ...rest }: ToolResult,
  at: number,
  keep: (hash: string, bytes: Uint8Array) => void,
): JournalNote {
  const data: JsonObject = {
    ...rest,
    ...(error === undefined ? {} : { error: { ...error } }),
    ...(content === undefined ? {} : { content: storeBlocks(content, keep) }),
  };
  return { kind: 'late_result', data, at };
}
