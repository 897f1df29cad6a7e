import type { ToolCall, ToolResult } from './call.js';
import type { JsonValue } from './json.js';

export interface TranscriptEntry {
  readonly role: string;
  readonly content: JsonValue;
}

/** What was said in a conversation, in the journal: a later process can go on with it. Without a journal it is empty. */
export interface Transcript {
  /** Oldest first. @throws ToolError `journal_unavailable` */
  read(): Promise<readonly TranscriptEntry[]>;
  /** Adds to it; durable when it resolves. @throws ToolError `journal_unavailable` */
  add(role: string, content: JsonValue): Promise<void>;
  /** The ids of the calls on record, also of responses that were cut. @throws ToolError `journal_unavailable` */
  callIds(): Promise<readonly string[]>;
  /**
   * What became of the calls of a batch, as it is delivered now, in order; undefined where no answer is recorded.
   * @throws ToolError `journal_unavailable`
   */
  answers(batchId: string, calls: readonly ToolCall[]): Promise<readonly (ToolResult | undefined)[]>;
}
