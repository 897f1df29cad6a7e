import type { ToolCall, ToolResult } from './call.js';
import type { JsonValue } from './json.js';

export interface TranscriptEntry {
  readonly role: string;
  readonly content: JsonValue;
}

/**
 * The messages of a conversation in the journal, for a later process that continues it. Without a journal it
 * is empty.
 */
export interface Transcript {
  /** All messages, oldest first. @throws ToolError `journal_unavailable` */
  read(): Promise<readonly TranscriptEntry[]>;
  /** Adds a message. It is durable when the promise resolves. @throws ToolError `journal_unavailable` */
  add(role: string, content: JsonValue): Promise<void>;
  /**
   * The ids of all recorded calls, including those of interrupted responses. @throws ToolError
   * `journal_unavailable`
   */
  callIds(): Promise<readonly string[]>;
  /**
   * The recorded results of a batch, for the calls as they are delivered now, in order; undefined for a call
   * without a recorded result.
   * @throws ToolError `journal_unavailable`
   */
  answers(batchId: string, calls: readonly ToolCall[]): Promise<readonly (ToolResult | undefined)[]>;
}
