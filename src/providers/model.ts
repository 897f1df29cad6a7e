import type { ReadError, ToolCall, ToolResult } from '../contract/call.js';
import type { JsonObject } from '../contract/json.js';
import type { AssistantContent, ModelUsage, StopReason, UserMessage } from '../contract/model.js';
import type { ToolDefinition } from '../contract/tool.js';
import type { HistoryFormat } from './registry.js';

/** The wire formats that can represent a conversation: every one but fenced text. */
export type ModelFormat = HistoryFormat;

/** A language model that continues a conversation. */
export interface Model {
  /** The provider's name for it: `claude-sonnet-4-5`. */
  readonly name: string;
  readonly format: ModelFormat;
  /** The context size in tokens, including the answer. If absent: unknown. */
  readonly contextTokens?: number;
  /** The maximum length of an answer in tokens. If absent: unknown. */
  readonly maxOutputTokens?: number;
  /**
   * Requests the next message and yields its parts as they arrive. `end` comes last and exactly once, unless
   * the stream throws. Ending the iteration early or aborting `signal` closes the connection. A request may
   * be retried, but only before the first event.
   * @throws ModelError for any failure of the provider or the network. Earlier events stay valid. A call with
   * incomplete arguments is yielded as `call_error` before the throw.
   */
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent>;
}

export interface ModelRequest {
  /** Instructions before the conversation. */
  readonly system?: string;
  /** The whole conversation in order. The last message is from the user or holds tool results. */
  readonly messages: readonly ModelMessage[];
  /** The tools that the model may call, as `executor.definitions()` gives them. May be empty. */
  readonly tools: readonly ToolDefinition[];
}

/** A message of a conversation. JSON, except for the bytes of content blocks. */
export type ModelMessage = UserMessage | AssistantMessage | ToolMessage;

export interface AssistantMessage extends AssistantContent {
  readonly role: 'assistant';
  /** The response's id, if it has one. It is the turn of calls with made-up ids. */
  readonly id?: string;
  /** For calls of a special kind: the data that is needed to answer in the same kind. */
  readonly origins?: readonly JsonObject[];
  readonly native: NativeMessages;
}

export interface ToolMessage {
  readonly role: 'tool';
  /** The results of all readable calls of the previous message, in any order. */
  readonly results: readonly ToolResult[];
  readonly native: NativeMessages;
}

/**
 * The provider's own messages, sent back unchanged so that ids, signatures and reasoning survive. A model of
 * another format uses the other fields of the message instead.
 */
export interface NativeMessages {
  readonly format: ModelFormat;
  readonly messages: readonly JsonObject[];
}

export type ModelEvent =
  /** A piece of the visible text. */
  | { readonly type: 'text'; readonly text: string }
  /** A piece of the model's reasoning. */
  | { readonly type: 'reasoning'; readonly text: string }
  /** A complete call. */
  | { readonly type: 'call'; readonly call: ToolCall }
  /** A call that cannot be read: its arguments are malformed or incomplete. */
  | { readonly type: 'call_error'; readonly error: ReadError }
  /** At most once, before `end`. */
  | ({ readonly type: 'usage' } & ModelUsage)
  | ModelEnd;

export interface ModelEnd {
  readonly type: 'end';
  readonly stopReason: StopReason;
  /** The message to add to the conversation. */
  readonly message: AssistantMessage;
  /**
   * Creates the message with the results, to add after `message`: one result for each readable call, in any
   * order. Unreadable calls are answered automatically.
   * @throws ToolError `bad_args` if a result is missing or does not belong to a call.
   */
  answer(results: readonly ToolResult[]): ToolMessage;
}
