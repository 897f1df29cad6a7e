import type { JournalNote } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import type { ToolResult } from '../contract/result.js';

/** What a finish that came too late leaves behind as evidence. */
export function lateNote(result: ToolResult, at: number): JournalNote {
  const { error, ...rest } = result;
  const data: JsonObject = { ...rest, ...(error === undefined ? {} : { error: { ...error } }) };
  return { kind: 'late_result', data, at };
}
