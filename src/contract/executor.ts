import type { ErrorCode } from '../errors/catalogue.js';
import type { NarrowOptions } from './agent-runner.js';
import type {
  ApprovalDecision,
  ApprovalRequest,
  Approver,
  PersonWhileRunning,
  Plan,
  PlannedCall,
  ShownFile,
} from './approval.js';
import type { ReadError, ToolCall, ToolResult } from './call.js';
import type { CommandChanges } from './changes.js';
import type { Transcript } from './conversation.js';
import type { ReadOptions } from './files.js';
import type { BatchMessage, DecisionKind, Settlement } from './journal.js';
import type { JsonObject } from './json.js';
import type { RecoveredBatch, WaitingBatch } from './open-batch.js';
import type { ResultCache } from './outputs.js';
import type { PicturePart } from './picture.js';
import type { OptionsIn } from './settings.js';
import type { TraceContext } from './telemetry.js';
import type { AskedTicket, TicketOptions } from './ticket.js';
import type { ToolDefinition } from './tool.js';

/** How the executor treats calls (D012 to D014). */
export type ExecutorMode = NonNullable<OptionsIn<'executor'>['mode']>;

export interface RunOptions {
  /** Aborting it cancels the batch. */
  readonly signal?: AbortSignal;
  /**
   * Runs only calls whose effects are all reads; the others answer `[Dry Run] ` and their summary, without a
   * question. `preview`: like `preview()`, and nothing is committed; only for `run`.
   */
  readonly dryRun?: boolean | 'preview';
  /**
   * The conversation. File memory belongs to it, and a call that is delivered twice in it runs once. Without
   * it, the executor uses its own conversation, where every delivery is a new call.
   */
  readonly conversation?: string;
  /**
   * The id of the model's response. A call with a made-up id (`madeUp`) is the same delivery only within one
   * turn of a conversation. Default: each call's own `turn`; a made-up id without a turn is always a new
   * call. Ids from the provider do not need it.
   */
  readonly turn?: string;
  /**
   * Ignores earlier results: calls that were delivered before in this conversation run again as new calls,
   * and later deliveries do not attach to them. Refused while the conversation waits for the person. Default
   * false.
   */
  readonly again?: boolean;
  /** After the first failure, the remaining calls are answered `cancelled`. Default false. */
  readonly failFast?: boolean;
  /** How many calls run at once, in call order, regardless of their effects. Default 1; with `parallel` 8. */
  readonly concurrency?: number;
  /** Calls whose effects do not conflict run side by side. Default false. */
  readonly parallel?: boolean;
  /** Time limit of each call in milliseconds. Overrides every other time limit (E038). */
  readonly timeoutMs?: number;
  /**
   * Bytes that the model's context can still take, for the whole batch. Default: only `output.maxBytes`
   * limits it.
   */
  readonly availableCapacityBytes?: number;
  /** The sub-agent that makes these calls, for policy rules. Absent for the main conversation. */
  readonly agent?: string;
  /** Used instead of the executor's own approver. */
  readonly approver?: Approver | null;
  /**
   * The person to ask while a call runs: about the changes of a command, and for tools. Used only if the
   * executor itself has no approver or no asker. `approver` and `defer` decide about the questions before a
   * call.
   */
  readonly whileRunning?: PersonWhileRunning;
  /**
   * Defers approval: calls that need it are recorded and wait, the other calls run. A waiting call is
   * answered `approval_unavailable` with `metadata.pending`; `approve` continues it, in this process or a
   * later one. A waiting call blocks no other call. `unasked`: only if no approver could be asked. Default
   * false.
   */
  readonly defer?: boolean | 'unasked';
  /**
   * A ticket of `ask`. The one call of the batch runs if the ticket was approved or needed no approval. A call with
   * another id, tool, conversation or other arguments is answered `approval_unavailable`. Replaces the approver:
   * `config_invalid` together with `approver`, `defer`, `again` or `dryRun`.
   */
  readonly ticket?: string;
  /** The trace that the calls belong to. Default: the caller's active span. */
  readonly trace?: TraceContext;
  /** The assistant's message that contained the calls. It is recorded with them. */
  readonly message?: BatchMessage;
  /**
   * Plain data that is recorded with the batch, for the program that later answers in the original format.
   */
  readonly origin?: JsonObject;
}

/** Options of `approve`. */
export interface ApproveOptions extends RunOptions {
  /**
   * The file contents that the person saw (`shown` of the requests). Default: the contents recorded when the
   * batch was deferred. If a file has changed since, its call is planned and asked again.
   */
  readonly shown?: readonly ShownFile[];
}

export interface WaitingOptions {
  /** Only batches of this conversation. Default: all. */
  readonly conversation?: string;
}

export interface DecideOptions {
  /**
   * By call id, for calls that are `outcome_unknown`: `applied` becomes a success that says so, `not_applied`
   * becomes `cancelled`, executed: no. The journal keeps the original record.
   */
  readonly settled?: Readonly<Record<string, Settlement>>;
}

export interface UndoOptions {
  /** The conversation of the call. Default: any. The newest call with the id that was started is undone. */
  readonly conversation?: string;
  /**
   * The turn of a call with a made-up id. Default: a call with its own id, otherwise the newest made-up one.
   */
  readonly turn?: string;
  /** The batch of the call, if it was run more than once (`again`). Default: the newest one. */
  readonly batchId?: string;
  /** Reports what would be restored and changes nothing. */
  readonly dryRun?: boolean;
}

/** The effect of an undo on the files of a call. */
export interface UndoReport {
  readonly callId: string;
  /** Canonical paths that are as they were before the call (with `dryRun`: would be). */
  readonly restored: readonly string[];
  readonly skipped: readonly SkippedFile[];
  /** The id of the recorded undo. Undo it to restore the changes. Absent if nothing was restored. */
  readonly undoId?: string;
}

/** The reason of a skipped file that needs no undo. */
export const AS_BEFORE = 'it is as it was before';

export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

/** A batch that is running. */
export interface BatchRun {
  readonly id: string;
  /**
   * Live events, for one reader. A slow reader slows the producers, and nothing is dropped. Before the reader
   * starts, output beyond a limit is not kept; a `progress` event reports its size.
   */
  readonly events: AsyncIterable<ToolEvent>;
  readonly results: Promise<readonly ToolResult[]>;
  cancel(reason?: string): void;
}

/**
 * A batch whose calls are still arriving. `start`, `drop` or `answer` ends it. If the process dies first,
 * recovery ends it.
 */
export interface IncomingBatch {
  /** The id of the batch. */
  readonly id: string;
  /**
   * Records the next calls of the stream, in order, and the model's full text so far. Resolves when they are
   * as durable as the journal allows.
   * @throws ToolError `bad_args` after `start` or `drop`, `journal_unavailable`.
   */
  add(calls: readonly ToolCall[], said?: string): Promise<void>;
  /**
   * Records a call that cannot be read, with its answer `bad_args`. It never runs. As durable as `add`.
   * @throws ToolError as `add`
   */
  addUnreadable(error: ReadError): Promise<void>;
  /**
   * Runs the calls after the stream is complete, with the options of `receive` and the options given here.
   */
  start(options?: Pick<RunOptions, 'availableCapacityBytes'>): BatchRun;
  /**
   * Runs none of the calls. Each is answered with the given reason, executed: no, and that is recorded.
   * @param why default: the stream was interrupted. A text is the reason of `cancelled`.
   */
  drop(why?: string | { readonly code: ErrorCode; readonly message: string }): Promise<readonly ToolResult[]>;
  /**
   * Runs none of the calls: their results come from elsewhere, one per call in order (mode `parse_only`).
   * They are cleaned, redacted and truncated like a tool's output; a call without a result is `cancelled`.
   * Nothing is recorded.
   * @throws ToolError `bad_args` after `start` or `drop`
   */
  answer(
    given: readonly (SubmittedResult | undefined)[],
    options?: Pick<RunOptions, 'availableCapacityBytes'>,
  ): readonly ToolResult[];
}

/** The result of a call that a person or another program executed. */
export interface SubmittedResult {
  readonly output: string;
  /** False if the call failed; `output` then gives the reason. Default true. */
  readonly success?: boolean;
}

/**
 * The outcome of calls that ran in a private overlay of the roots, in order, as if all were approved and
 * without the network. A tool that is not `contained`, and every effect beyond files and commands, answers as
 * in a dry run.
 */
export interface Preview {
  /** In call order. */
  readonly results: readonly ToolResult[];
  /** The combined changes of all calls. */
  readonly changes: CommandChanges;
  /** The changes as picture parts, for `describeRequest`. */
  readonly parts: readonly PicturePart[];
  /** The requests that the approver would receive. */
  readonly requests: readonly ApprovalRequest[];
  /**
   * Asks the approver and commits all changes as one. The recorded results are returned. If a call is refused
   * or edited, or another program has changed the same files, nothing is committed, and the results say so.
   * @throws ToolError `bad_args` after `discard`
   */
  commit(): Promise<readonly ToolResult[]>;
  /** Drops all changes. Closing the executor does the same. */
  discard(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Executor {
  /** From now on, nothing that the conversation has seen before counts as an origin; undefined: the executor's own. */
  mark(conversation: string | undefined, state: 'clean'): Promise<void>;
  /** Plans the calls. Touches nothing, asks no questions, records nothing. */
  plan(calls: readonly ToolCall<unknown>[], options?: RunOptions): Promise<Plan>;
  /**
   * Runs the calls in a private overlay and shows their results and changes. With `approver: null`, `commit`
   * asks no question; without an approver, calls that need approval are refused.
   * @throws ToolError `sandbox_violation` if this machine does not support transactions
   */
  preview(calls: readonly ToolCall<unknown>[], options?: RunOptions): Promise<Preview>;
  /** Runs the calls: one result per call, in call order. Never rejects because a call failed. */
  run(calls: readonly ToolCall<unknown>[], options?: RunOptions): Promise<ToolResult[]>;
  /** The same as `run`, with live events. */
  start(calls: readonly ToolCall<unknown>[], options?: RunOptions): BatchRun;
  /**
   * Takes calls while the model is still responding (D086): they are recorded before the batch starts. After
   * a crash, recovery finds a batch whose calls never started.
   */
  receive(options?: RunOptions): IncomingBatch;
  /** Runs one call by name. */
  execute(name: string, args: JsonObject, options?: RunOptions): Promise<ToolResult>;
  /**
   * For programs: returns the output. @throws ToolError with the result's code; `details.output` holds the
   * output, and `cause` the tool's own error if it was thrown in this process.
   */
  invoke(name: string, args: JsonObject, options?: RunOptions): Promise<string>;
  /**
   * Ends the calls that dead processes left unfinished (D011, D109): a call that never started is
   * `cancelled`, a started one is `outcome_unknown` unless the tool's probe can tell. Runs by itself before
   * the first batch of an executor with a durable journal. Never runs a call again. Returns the batches with
   * such calls, and the waiting batches.
   */
  recover(): Promise<readonly RecoveredBatch[]>;
  /**
   * Continues a batch that waits for approval. Its calls are planned again with the current policy, the
   * approver is asked, and the approved calls run. If several processes approve at once, one decides and the
   * others receive its answers. The approval is bound to the shown contents (`shown`). Without an approver
   * the batch keeps waiting. With `approver: null` it runs as shown; a call whose files have changed since is
   * answered `approval_unavailable` with `details.changed`, and the batch keeps waiting.
   * @param batchId also a unique prefix of at least 8 characters.
   * @throws ToolError `already_decided`; `unknown_batch` if no batch or several batches match; `bad_args` if
   * the batch never waited for approval, or with `dryRun`.
   */
  approve(batchId: string, options?: ApproveOptions): Promise<BatchRun>;
  /**
   * Asks whether a call needs a person's decision, and records the question. Runs nothing. For programs in which the
   * question, the decision and the run are separate requests. The ticket binds the conversation, the call, its
   * arguments, the resolved paths and the contents shown. Asking again about the same call gives the same ticket until
   * its files change.
   * @throws ToolError `config_invalid` for a wrong option, `journal_unavailable` if nothing can be recorded.
   */
  ask(call: ToolCall<unknown>, options: TicketOptions): Promise<AskedTicket>;
  /**
   * The batches in the journal that wait for approval, from this and other processes, longest wait first.
   * Their calls are planned again with the current policy; nothing is touched. A call that can no longer be
   * planned (its tool is gone, or the policy refuses it) is described from the record.
   * @throws ToolError `journal_unavailable`, `config_invalid` for an invalid option.
   */
  waiting(options?: WaitingOptions): Promise<readonly WaitingBatch[]>;
  /**
   * Decides an unfinished batch: `resume` keeps its results, `discard` reports them as failures. With
   * `resume`, `settled` can state what happened to calls with an unknown outcome. `discard` also ends a batch
   * that waits for approval: its calls are `cancelled`, `executed: no`.
   * @param batchId also a unique prefix of at least 8 characters.
   * @throws ToolError `already_decided`; `unknown_batch` if no batch or several batches match; `bad_args` if
   * the batch never waited, to `resume` a batch that waits for approval, and to decide about a call with a known
   * outcome.
   */
  decide(batchId: string, decision: Exclude<DecisionKind, 'wait'>, options?: DecideOptions): Promise<void>;
  /**
   * Records a decision about a ticket of `ask`. Runs nothing: `run` with the ticket does. The first decision counts.
   * @throws ToolError `unknown_batch` for a ticket that `ask` did not give; `already_decided`, also for a call that
   *   needs no approval; `bad_args` for an invalid decision.
   */
  decide(ticket: string, decision: ApprovalDecision): Promise<void>;
  /**
   * Restores the files that a call changed. A file that has changed since is not restored, and the report
   * says so.
   * @throws ToolError `bad_args` if the journal has no such call or no record of its changes.
   */
  undo(callId: string, options?: UndoOptions): Promise<UndoReport>;
  /**
   * The tool definitions for a model, sorted by name. Empty in mode `disabled`; in mode `parse_only`, the
   * definitions from the options, if any.
   */
  definitions(): readonly ToolDefinition[];
  readonly mode: ExecutorMode;
  /** The limits that a loop must respect. */
  readonly limits: { readonly maxToolIterationsPerUserTurn: number };
  /** The messages of a conversation. A loop writes them, and a later process reads them to continue. */
  transcript(conversation: string): Transcript;
  /**
   * An executor with fewer tools and the same roots, policy, approver, journal and queue. Closing it does
   * nothing; it ends with the original executor.
   * @throws ToolError `unknown_tool`; `config_invalid` for an invalid option
   */
  narrow(options: NarrowOptions): Executor;
  /**
   * Reads an untruncated output (`outputRef` of a result), or a part of it, as bytes.
   * @throws ToolError `bad_args` for any other text, `execution_failed` for an output that
   *   is no longer kept
   */
  readOutput(outputRef: string, options?: ReadOutputOptions): Promise<Uint8Array>;
  /** Cached results of reads. Empty if the cache is off. */
  readonly cache: ResultCache;
  /**
   * Cancels running calls, waits for them, and closes the journal if this executor opened it. May be called
   * twice.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ReadOutputOptions extends ReadOptions {
  /** The conversation whose model receives these bytes: they count as seen, with the origins of their call. */
  readonly conversation?: string;
}

interface EventBase {
  readonly callId: string;
  readonly toolName: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * The order for every call: planned, approval_requested, approval_decided, started, stdout/stderr/progress,
 * completed. A pre-resolved call has `planned` and `completed`.
 */
export type ToolEvent =
  | (EventBase & { readonly type: 'planned'; readonly plan: PlannedCall })
  | (EventBase & { readonly type: 'approval_requested'; readonly summary: string })
  | (EventBase & { readonly type: 'approval_decided'; readonly approved: boolean; readonly reason?: string })
  | (EventBase & { readonly type: 'started' })
  | (EventBase & { readonly type: 'stdout' | 'stderr'; readonly chunk: string })
  | (EventBase & { readonly type: 'progress'; readonly message: string })
  | (EventBase & { readonly type: 'completed'; readonly result: ToolResult });
