import type { ContentBlock, ReadError, ToolCall, ToolResult } from './call.js';
import type { JsonObject } from './json.js';
import type { ToolDefinition } from './tool.js';

/** The wire formats in which a conversation has a shape. */
export type ModelFormat = 'anthropic' | 'gemini' | 'native' | 'openai' | 'openai-responses';

/** A language model that can be asked for the next message of a conversation. */
export interface Model {
  /** As the provider knows it: `claude-sonnet-4-5`. */
  readonly name: string;
  readonly format: ModelFormat;
  /** How many tokens a conversation may have, answer included. Left out: not known. */
  readonly contextTokens?: number;
  /** How many tokens of them an answer may take. Left out: not known. */
  readonly maxOutputTokens?: number;
  /**
   * Asks for the next message and gives what arrives, as it arrives; `end` comes last and exactly once, unless it
   * throws. Ending the iteration early or aborting `signal` closes the connection. A request may be tried again, but
   * only before the first event.
   * @throws ModelError for whatever the provider or the network does; what it gave until then stays given. A call
   *   whose arguments were cut off is given as `call_error` before the throw.
   */
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent>;
}

export interface ModelRequest {
  /** Instructions that stand before the conversation. */
  readonly system?: string;
  /** The whole conversation so far, in order. The last is of the user, or holds the results of tools. */
  readonly messages: readonly ModelMessage[];
  /** What the model may call, as `executor.definitions()` gives it. May be empty. */
  readonly tools: readonly ToolDefinition[];
}

/** A message of a conversation. JSON, except for the bytes of content blocks. */
export type ModelMessage = UserMessage | AssistantMessage | ToolMessage;

export interface UserMessage {
  readonly role: 'user';
  /** What a provider does not take of blocks is said in words. */
  readonly content: string | readonly ContentBlock[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Calls that cannot be read. Each is answered too. */
  readonly errors: readonly ReadError[];
  /** The response's own id, where it has one: the turn of calls whose ids were made up. */
  readonly id?: string;
  /** What has to be known of calls that are not of the format's usual kind, to answer them in kind. */
  readonly origins?: readonly JsonObject[];
  readonly native: NativeMessages;
}

export interface ToolMessage {
  readonly role: 'tool';
  /** Of all readable calls of the message before, in any order. */
  readonly results: readonly ToolResult[];
  readonly native: NativeMessages;
}

/**
 * The provider's own messages, sent back as they are, so that ids, signatures and reasoning survive. A model of another
 * format writes its own from the rest of the message.
 */
export interface NativeMessages {
  readonly format: ModelFormat;
  readonly messages: readonly JsonObject[];
}

export type ModelEvent =
  /** A piece of the text that the person sees. */
  | { readonly type: 'text'; readonly text: string }
  /** A piece of what the model thinks aloud. */
  | { readonly type: 'reasoning'; readonly text: string }
  /** A call, as soon as all of it has arrived. */
  | { readonly type: 'call'; readonly call: ToolCall }
  /** A call that cannot be read: its arguments are malformed or were cut off. */
  | { readonly type: 'call_error'; readonly error: ReadError }
  /** At most once, before `end`. */
  | ({ readonly type: 'usage' } & ModelUsage)
  | ModelEnd;

/** Tokens of one request; those that came from a cache are counted too. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface ModelEnd {
  readonly type: 'end';
  /**
   * `tool_calls`: the message has calls or errors, and is to be answered. `length`: it was cut at a limit and has none.
   * `refused`: the model or a filter of the provider declined; calls that it gave are not to be run, and not in `message`.
   */
  readonly stopReason: 'end' | 'tool_calls' | 'length' | 'refused';
  /** To be added to the conversation. */
  readonly message: AssistantMessage;
  /**
   * The message that answers the calls, to be added after `message`: one result for each readable call, in any order;
   * errors are answered by themselves.
   * @throws ToolError `bad_args` when a call has no result, or one too many.
   */
  answer(results: readonly ToolResult[]): ToolMessage;
}
