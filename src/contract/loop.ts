import type { ReadError, ToolCall, ToolResult } from './call.js';
import type { Executor, SubmittedResult, ToolEvent } from './executor.js';
import type { JsonObject } from './json.js';
import type { Model, ModelUsage } from './model.js';

export interface ToolLoopOptions {
  /** Plans, approves, runs and records the calls. The loop does not close it. */
  readonly executor: Executor;
  readonly model: Model;
  /** Instructions that stand before the conversation. */
  readonly system?: string;
  /**
   * Names the conversation: with a journal a later loop goes on with it, also in another process. Left out: one of its
   * own.
   */
  readonly conversation?: string;
  /** How many batches run in one turn of the person. Default: that of the executor's limits (4). */
  readonly maxToolIterationsPerUserTurn?: number;
  /**
   * How many tokens one turn of the person may take, input and output of all its requests together. After that no
   * batch runs: the model is told so, and asked once more. Default: no bound.
   */
  readonly maxTokensPerUserTurn?: number;
  /** Tokens that the model takes, answer included. Default: as the model is known; results are cut to fit. */
  readonly contextTokens?: number;
  /** Calls whose effects do not conflict run side by side. Default false. */
  readonly parallel?: boolean;
  /** Only calls that read are run; the others answer what they would do. Default false. */
  readonly dryRun?: boolean;
  /** After the first failure the remaining calls of a batch are answered `cancelled`. Default false. */
  readonly failFast?: boolean;
  /**
   * Calls that need approval are not asked for: they are recorded and wait for `executor.approve`, and the model is
   * told so. Default false.
   */
  readonly defer?: boolean;
  /** Plain data that is recorded with each batch: `RunOptions.origin`. */
  readonly origin?: JsonObject;
  /** Whether the model may start sub-agents with the tool `task`, where it is one of the tools. Default true. */
  readonly agents?: boolean;
}

export type LoopState =
  | { readonly kind: 'idle' }
  /** The model speaks. `iteration` counts the batches before, in this turn. */
  | { readonly kind: 'streaming'; readonly iteration: number }
  /** Calls are planned, approved and run. */
  | { readonly kind: 'tools'; readonly iteration: number; readonly calls: readonly ToolCall[] }
  /** Mode `parse_only`: these calls have no result yet; `submit` gives it. */
  | { readonly kind: 'waiting'; readonly iteration: number; readonly calls: readonly ToolCall[] };

export type LoopEvent =
  | { readonly type: 'state'; readonly state: LoopState }
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'call'; readonly call: ToolCall }
  | { readonly type: 'call_error'; readonly error: ReadError }
  | ToolEvent
  | { readonly type: 'end'; readonly result: LoopResult };

export interface LoopResult {
  /** What the model said last. */
  readonly text: string;
  /**
   * `end`: it has answered. `max_iterations`: it wanted more batches than it may have. `max_tokens`: the budget of
   * tokens was used up (`maxTokensPerUserTurn`). `refused`: the model or a filter
   * of its provider declined. `error`: the provider, the network or the journal failed.
   */
  readonly stopReason: 'end' | 'max_iterations' | 'max_tokens' | 'cancelled' | 'refused' | 'error';
  /** Batches that were run, or submitted. */
  readonly iterations: number;
  /** Of all calls of the turn, in order; a call that could not be read has its `bad_args`. */
  readonly results: readonly ToolResult[];
  /** Tokens of all requests of the turn. */
  readonly usage: ModelUsage;
  /** Tokens that the conversation takes by now, estimated where the provider counts none, and that the model takes. */
  readonly context: { readonly usedTokens: number; readonly contextTokens?: number };
  /** The answer was cut at the model's limit of tokens. */
  readonly cutOff?: true;
  readonly error?: { readonly status?: number; readonly message: string };
}

export interface LoopRunOptions {
  /** Aborting it cancels the turn: what runs is stopped, results are kept, the model is not asked again. */
  readonly signal?: AbortSignal;
}

/** A conversation of a model that has tools (D141, D146). One turn at a time. */
export interface ToolLoop {
  /** Of the conversation. */
  readonly conversation: string;
  readonly state: LoopState;
  /** The conversation so far, in the shape of the model's provider. */
  readonly messages: readonly JsonObject[];
  /** Takes in what the journal has of the conversation; the first turn does it by itself. */
  resume(): Promise<void>;
  /**
   * One turn of the person: until the model has answered. Does not reject for what a provider, a tool or a signal does.
   * @throws ToolError `bad_args` while another turn is under way, and for a text that is none
   */
  run(text: string, options?: LoopRunOptions): Promise<LoopResult>;
  /** The same, live: `end` comes last. Leaving the iteration cancels the turn. A slow reader slows the turn. */
  stream(text: string, options?: LoopRunOptions): AsyncGenerator<LoopEvent, void, undefined>;
  /**
   * In mode `parse_only`: the result of a call of `state.calls`. With the last one the model goes on. It is redacted and
   * cut like a tool's own.
   * @param given `success` false: `output` says why it failed. Default true.
   * @throws ToolError `bad_args` when no such call waits
   */
  submit(callId: string, given: SubmittedResult): void;
}
