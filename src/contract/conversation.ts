import type { ToolCall, ToolResult } from './call.js';
import type { JsonValue } from './json.js';

export interface TranscriptEntry {
  readonly role: string;
  readonly content: JsonValue;
}

/** A turn whose model has no more calls to make. */
export interface EndedTurn {
  /** The model's last message. */
  readonly text: string;
  /** The turn already continues because `endTurn` asked for it. */
  readonly isGoingOn: boolean;
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
  /**
   * Runs the hooks `Stop`, for a sub-agent `SubagentStop`. Never rejects.
   * @returns the remaining task, in the words of a hook; undefined: the turn is over
   */
  endTurn(turn: EndedTurn, signal: AbortSignal): Promise<string | undefined>;
}
