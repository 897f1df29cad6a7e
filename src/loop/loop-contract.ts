import type { ReadError, ToolCall, ToolResult } from '../contract/call.js';
import type { Executor, SubmittedResult, ToolEvent } from '../contract/executor.js';
import type { JsonObject } from '../contract/json.js';
import type { ModelUsage } from '../contract/model.js';
import type { Model } from '../providers/model.js';

export interface ToolLoopOptions {
  /** Plans, approves, runs and records the calls. The loop does not close it. */
  readonly executor: Executor;
  readonly model: Model;
  /** Instructions before the conversation. */
  readonly system?: string;
  /**
   * The id of the conversation. With a journal, a later loop can continue it, also in another process.
   * Default: a new id.
   */
  readonly conversation?: string;
  /** Maximum number of batches in one user turn. Default: the executor's limit (4). */
  readonly maxToolIterationsPerUserTurn?: number;
  /**
   * Maximum number of tokens in one user turn, input and output of all requests together. When it is reached,
   * no more batch runs: the model gets a notice and one last request. Default: no limit.
   */
  readonly maxTokensPerUserTurn?: number;
  /**
   * The size of the model's context in tokens, including the answer. Default: the known size of the model.
   * Results are cut to fit.
   */
  readonly contextTokens?: number;
  /** Calls whose effects do not conflict run side by side. Default false. */
  readonly parallel?: boolean;
  /** Runs only calls that read; the others describe what they would do. Default false. */
  readonly dryRun?: boolean;
  /** After the first failure the remaining calls of a batch are answered `cancelled`. Default false. */
  readonly failFast?: boolean;
  /**
   * Calls that need approval are recorded and wait for `executor.approve`; the model gets that as their
   * result. Default false.
   */
  readonly defer?: boolean;
  /** Plain data that is recorded with each batch, as `RunOptions.origin`. */
  readonly origin?: JsonObject;
  /** Whether the model may start sub-agents with the tool `task`, if that tool is present. Default true. */
  readonly agents?: boolean;
}

export type LoopState =
  | { readonly kind: 'idle' }
  /** The model responds. `iteration` counts the earlier batches of this turn. */
  | { readonly kind: 'streaming'; readonly iteration: number }
  /** The calls are being planned, approved or run. */
  | { readonly kind: 'tools'; readonly iteration: number; readonly calls: readonly ToolCall[] }
  /** Mode `parse_only`: these calls wait for a result from `submit`. */
  | { readonly kind: 'waiting'; readonly iteration: number; readonly calls: readonly ToolCall[] };

export type LoopEvent =
  | { readonly type: 'state'; readonly state: LoopState }
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'call'; readonly call: ToolCall }
  | { readonly type: 'call_error'; readonly error: ReadError }
  | ToolEvent
  | { readonly type: 'end'; readonly result: LoopResult };

export interface LoopResult {
  /** The model's last text. */
  readonly text: string;
  /**
   * `end`: the model has answered. `max_iterations`: it asked for more batches than allowed. `max_tokens`:
   * the token limit was reached (`maxTokensPerUserTurn`). `refused`: the model or a filter of its provider
   * declined. `error`: the provider, the network or the journal failed.
   */
  readonly stopReason: 'end' | 'max_iterations' | 'max_tokens' | 'cancelled' | 'refused' | 'error';
  /** The number of batches that ran or were submitted. */
  readonly iterations: number;
  /** The results of all calls of the turn, in order; an unreadable call has a `bad_args` result. */
  readonly results: readonly ToolResult[];
  /** Tokens of all requests of the turn. */
  readonly usage: ModelUsage;
  /**
   * The current size of the conversation in tokens, estimated if the provider does not report it, and the
   * size of the model's context.
   */
  readonly context: { readonly usedTokens: number; readonly contextTokens?: number };
  /** The answer ended at the model's token limit. */
  readonly cutOff?: true;
  readonly error?: { readonly status?: number; readonly message: string };
}

export interface LoopRunOptions {
  /**
   * Aborting it cancels the turn: running calls are stopped, results are kept, and the model gets no further
   * request.
   */
  readonly signal?: AbortSignal;
}

/** A conversation with a model that has tools (D141, D146). One turn at a time. */
export interface ToolLoop {
  /** The id of the conversation. */
  readonly conversation: string;
  readonly state: LoopState;
  /** All messages so far, in the provider's format. */
  readonly messages: readonly JsonObject[];
  /** Loads the conversation from the journal. The first turn does this automatically. */
  resume(): Promise<void>;
  /**
   * Runs one user turn until the model has answered. Does not reject for an error of the provider, a tool or
   * a signal.
   * @throws ToolError `bad_args` if another turn is running, or `text` is not a text
   */
  run(text: string, options?: LoopRunOptions): Promise<LoopResult>;
  /**
   * The same as `run`, live; `end` is the last event. Leaving the iteration cancels the turn. A slow reader
   * slows the turn.
   */
  stream(text: string, options?: LoopRunOptions): AsyncGenerator<LoopEvent, void, undefined>;
  /**
   * In mode `parse_only`: gives the result of a call in `state.calls`. After the last one the model
   * continues. The result is redacted and cut like a tool's output.
   * @param given `success: false` means that `output` is the reason of a failure. Default true.
   * @throws ToolError `bad_args` if no such call waits
   */
  submit(callId: string, given: SubmittedResult): void;
}
