import type { ContentBlock, ReadError, ToolCall } from './call.js';

/** The parts of a conversation with a model that are the same in every format. */

export interface UserMessage {
  readonly role: 'user';
  /** A block that the provider does not support is described in words. */
  readonly content: string | readonly ContentBlock[];
}

/** The content of a model's message. */
export interface AssistantContent {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Calls that cannot be read. Each gets a result too. */
  readonly errors: readonly ReadError[];
}

/** Tokens of one request, including cached ones. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * `tool_calls`: the message has calls or unreadable calls and needs an answer. `length`: it reached a limit
 * and has none. `refused`: the model or a filter of the provider declined; its calls must not run and are
 * not in the message.
 */
export type StopReason = 'end' | 'tool_calls' | 'length' | 'refused';
