import type { ErrorCode } from '../errors/catalogue.js';
import type { NarrowOptions } from './agent-runner.js';
import type { ApprovalRequest, Approver, Plan, PlannedCall, ShownFile } from './approval.js';
import type { ReadError, ToolCall, ToolResult } from './call.js';
import type { CommandChanges } from './changes.js';
import type { Transcript } from './conversation.js';
import type { BatchMessage, CallState, DecisionKind, Settlement } from './journal.js';
import type { JsonObject } from './json.js';
import type { ResultCache } from './outputs.js';
import type { PicturePart } from './picture.js';
import type { ToolDefinition } from './tool.js';

/** What the executor does with calls (D012 to D014). */
export type ExecutorMode = 'disabled' | 'parse_only' | 'enabled';

export interface RunOptions {
  /** Aborting it cancels the batch. */
  readonly signal?: AbortSignal;
  /**
   * Calls whose effects are all reads run; the others answer `[Dry Run] ` and their summary, unasked. `preview`: what
   * `preview` gives, and nothing of it becomes real; for `run` alone.
   */
  readonly dryRun?: boolean | 'preview';
  /**
   * Names the conversation: file memory belongs to it, and the same call delivered twice in it runs once. Left out:
   * the executor's own, in which every delivery is a call of its own.
   */
  readonly conversation?: string;
  /**
   * Names the model's response that the calls came in. A call whose id was made up (`madeUp`) is the same delivery only
   * within one turn of a conversation. Left out: each call's own `turn`; a made-up id without either is always a new
   * call. Ids of the provider's own do not need it.
   */
  readonly turn?: string;
  /**
   * Nothing is answered from the record: what was delivered before in this conversation runs again, as calls of their own
   * that nothing attaches to. Not while the conversation waits for the person. Default false.
   */
  readonly again?: boolean;
  /** After the first failure the remaining calls are answered `cancelled`. Default false. */
  readonly failFast?: boolean;
  /** Calls at a time, in call order, whatever they touch. Default 1; with `parallel` 8. */
  readonly concurrency?: number;
  /** Calls whose effects do not conflict run side by side. Default false. */
  readonly parallel?: boolean;
  /** How long each call may take, in milliseconds; beats every other time limit (E038). */
  readonly timeoutMs?: number;
  /** What the model's context can still take, in bytes, for the whole batch. Default: no bound but `output.maxBytes`. */
  readonly availableCapacityBytes?: number;
  /** The sub-agent that makes these calls: rules of the policy can speak of it. Left out: the conversation itself. */
  readonly agent?: string;
  /** Asked instead of the executor's own approver. */
  readonly approver?: Approver | null;
  /**
   * Calls that need approval are not asked for now: they are recorded and wait, and their siblings run. They are
   * answered `approval_unavailable` with `metadata.pending`; `approve` goes on, in this process or in a later one.
   * What waits blocks no other call. Default false.
   */
  readonly defer?: boolean;
  /** The assistant's message that the calls came with: it is recorded with them. */
  readonly message?: BatchMessage;
  /** Plain data that is recorded with the batch, for the program that answers later in kind. */
  readonly origin?: JsonObject;
}

/** Of `approve`. */
export interface ApproveOptions extends RunOptions {
  /**
   * The contents that the person saw (`shown` of the requests), where they are not those that were recorded when the
   * batch was deferred. When a file has changed since, its call is planned and asked for again.
   */
  readonly shown?: readonly ShownFile[];
}

/** A batch that an earlier process left unfinished, as it stands after recovery. */
export interface RecoveredBatch {
  readonly batchId: string;
  readonly conversation: string;
  /** Its conversation waits for a decision about it. */
  readonly waits: boolean;
  /** What it waits for, where it does: a word about what was left half done (`decide`), or approval (`approve`). */
  readonly waitsFor?: 'recovery' | 'approval';
  /** All calls of the batch, in order; those that were ended have their result. */
  readonly calls: readonly RecoveredCall[];
}

export interface RecoveredCall {
  readonly callId: string;
  readonly toolName: string;
  readonly state: CallState;
  readonly result?: ToolResult;
}

/** A batch whose approval was deferred, and what the person is asked about it. */
export interface WaitingBatch {
  /** For `approve` and `decide`, which also take any unique beginning of it, of 8 characters or more. */
  readonly batchId: string;
  readonly conversation: string;
  /** When it was deferred: ISO 8601, UTC. */
  readonly since: string;
  /** One for each call that has no result yet, in call order. */
  readonly requests: readonly ApprovalRequest[];
}

export interface WaitingOptions {
  /** Only of this conversation. Left out: of all. */
  readonly conversation?: string;
}

export interface DecideOptions {
  /**
   * By call id, of calls that are `outcome_unknown`: `applied` is delivered as a success that says so, `not_applied` as
   * `cancelled`, executed: no. The record keeps what was known without the person.
   */
  readonly settled?: Readonly<Record<string, Settlement>>;
}

export interface UndoOptions {
  /** Whose call it is. Left out: the newest call with this id. */
  readonly conversation?: string;
  /** The turn of a call whose id was made up. Left out: the newest such call, where no own id is the same. */
  readonly turn?: string;
  /** Says what would be put back, and puts back nothing. */
  readonly dryRun?: boolean;
}

/** What an undo did to the files of a call. */
export interface UndoReport {
  readonly callId: string;
  /** Canonical paths that are as they were before the call (with `dryRun`: would be). */
  readonly restored: readonly string[];
  readonly skipped: readonly SkippedFile[];
  /** The call as which the undo is recorded: undo it, and the change is there again. Left out: nothing was done. */
  readonly undoId?: string;
}

export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

/** A batch that is under way. */
export interface BatchRun {
  readonly id: string;
  /**
   * What happens, as it happens; for one reader. A slow reader slows the producers, nothing is dropped. Until
   * the reader begins, output beyond a bound is not kept, and a `progress` event says how much that was.
   */
  readonly events: AsyncIterable<ToolEvent>;
  readonly results: Promise<readonly ToolResult[]>;
  cancel(reason?: string): void;
}

/** A batch whose calls are still arriving. One of `start`, `drop` and `answer` ends it; should this process die before, recovery does. */
export interface IncomingBatch {
  /** Of the batch that it will be. */
  readonly id: string;
  /**
   * Records what the stream has brought: its next calls, in order, and all that the model has said so far. Resolves
   * when that is as durable as the journal is.
   * @throws ToolError `bad_args` once it was started or dropped, `journal_unavailable`.
   */
  add(calls: readonly ToolCall[], said?: string): Promise<void>;
  /**
   * Records a call that came and cannot be read, with its answer `bad_args`; it is never run. As durable as `add`.
   * @throws ToolError as `add`
   */
  addUnreadable(error: ReadError): Promise<void>;
  /** The stream is whole: runs its calls, with the options of `receive`, and what is known only now. */
  start(options?: Pick<RunOptions, 'availableCapacityBytes'>): BatchRun;
  /**
   * None of the calls is run: every one is answered with this, executed: no, and that is recorded.
   * @param why default: the stream was broken off. A text is the reason of `cancelled`.
   */
  drop(why?: string | { readonly code: ErrorCode; readonly message: string }): Promise<readonly ToolResult[]>;
  /**
   * None of the calls is run here: their results come from elsewhere, one each in order (mode `parse_only`). They are
   * cleaned, redacted and cut like a tool's own; a call without one is `cancelled`. Nothing is recorded.
   * @throws ToolError `bad_args` once it was started or dropped
   */
  answer(
    given: readonly (SubmittedResult | undefined)[],
    options?: Pick<RunOptions, 'availableCapacityBytes'>,
  ): readonly ToolResult[];
}

/** What a person or another program gives as the result of a call. */
export interface SubmittedResult {
  readonly output: string;
  /** False: `output` says why it failed. Default true. */
  readonly success?: boolean;
}

/**
 * Calls that were tried where no other program sees it, as if all of them were approved: on an overlay of the roots, in
 * order, without the network. A tool that is not `contained`, and all that reaches further than files and commands,
 * answers as in a dry run.
 */
export interface Preview {
  /** In call order. */
  readonly results: readonly ToolResult[];
  /** What all of them have changed together. */
  readonly changes: CommandChanges;
  /** The same to look at, for `describeRequest`. */
  readonly parts: readonly PicturePart[];
  /** What the approver would be asked. */
  readonly requests: readonly ApprovalRequest[];
  /**
   * Asks the approver, and makes the changes real as one. The results are then those that were recorded. Where a call
   * is refused or changed, or others have changed the same files meanwhile, nothing becomes real, and the results say so.
   * @throws ToolError `bad_args` when it was discarded
   */
  commit(): Promise<readonly ToolResult[]>;
  /** Nothing of it is left. Closing the executor does the same. */
  discard(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Executor {
  /** What would happen. Touches nothing, asks no one, records nothing. */
  plan(calls: readonly ToolCall[], options?: RunOptions): Promise<Plan>;
  /**
   * Tries the calls, and shows what they would give and change. Where there is no approver, `commit` asks no one only
   * if that is `null`.
   * @throws ToolError `sandbox_violation` where this machine cannot keep changes apart
   */
  preview(calls: readonly ToolCall[], options?: RunOptions): Promise<Preview>;
  /** One result per call, in call order. Never rejects because a call failed. */
  run(calls: readonly ToolCall[], options?: RunOptions): Promise<ToolResult[]>;
  /** The same, live. */
  start(calls: readonly ToolCall[], options?: RunOptions): BatchRun;
  /**
   * For calls that arrive while the model still speaks (D086): they are on disk before they are a batch. After a
   * crash they are found as a batch of which nothing was started.
   */
  receive(options?: RunOptions): IncomingBatch;
  /** One call by name. */
  execute(name: string, args: JsonObject, options?: RunOptions): Promise<ToolResult>;
  /**
   * For programs: the output. @throws ToolError with the result's code, its `details.output` the kept output and its
   * `cause` what the tool threw, where that was in this process.
   */
  invoke(name: string, args: JsonObject, options?: RunOptions): Promise<string>;
  /**
   * Recovers what dead processes left unfinished (D011, D109): never started is `cancelled`, started is
   * `outcome_unknown` unless the tool's probe knows better. Runs by itself before the first batch of an executor with
   * a durable journal; runs no call again. Gives the batches that hold such calls, and those that wait.
   */
  recover(): Promise<readonly RecoveredBatch[]>;
  /**
   * Goes on with a batch that waits for approval, as if it had just come: its calls are planned by the policy of now,
   * the approver is asked, and what is approved runs. Of several that approve at once, one does, and the others get
   * its answers. Consent is bound to what was shown (`shown`). With no approver the batch goes on waiting; with
   * `approver: null` it runs as it was shown, and a call whose files have changed since is answered
   * `approval_unavailable` with `details.changed`, and the batch goes on waiting.
   * @param batchId also a beginning of it that no other batch has, of 8 characters or more.
   * @throws ToolError `already_decided`; `unknown_batch` when no batch has this id, or several begin with it;
   *   `bad_args` when it never waited for approval, and with `dryRun`.
   */
  approve(batchId: string, options?: ApproveOptions): Promise<BatchRun>;
  /**
   * The batches of the journal that wait for approval, of this process and of others; the longest wait first. Their
   * calls are planned again by the policy of now, and nothing is touched; a call that can no longer be planned (its
   * tool is gone, the policy refuses it) is described from the record.
   * @throws ToolError `journal_unavailable`, `config_invalid` for a wrong option.
   */
  waiting(options?: WaitingOptions): Promise<readonly WaitingBatch[]>;
  /**
   * Decides about a batch that was left half done: `resume` lets its results stand, `discard` has them delivered as failures.
   * With `resume` the person can say what became of calls whose outcome is not known (`settled`).
   * `discard` also gives up one that waits for approval: its calls are `cancelled`, `executed: no`.
   * @param batchId also a beginning of it that no other batch has, of 8 characters or more.
   * @throws ToolError `already_decided`; `unknown_batch` when no batch has this id, or several begin with it;
   *   `bad_args` when it never waited, to `resume` what waits for approval, and to settle what is known.
   */
  decide(batchId: string, decision: Exclude<DecisionKind, 'wait'>, options?: DecideOptions): Promise<void>;
  /**
   * Puts back what a call changed in files; a file that was changed since stays as it is, and is reported.
   * @throws ToolError `bad_args` when the journal knows no such call, or nothing of what it changed.
   */
  undo(callId: string, options?: UndoOptions): Promise<UndoReport>;
  /**
   * What a model is shown, sorted by name; nothing in mode `disabled`, and in mode `parse_only` the definitions of the
   * options where they hold any.
   */
  definitions(): readonly ToolDefinition[];
  readonly mode: ExecutorMode;
  /** What a loop keeps to. */
  readonly limits: { readonly maxToolIterationsPerUserTurn: number };
  /** What was said in a conversation: a loop writes it, and reads it to go on in a later process. */
  transcript(conversation: string): Transcript;
  /**
   * This executor for a part of the work: the same roots, policy, approver, journal and queue, and fewer tools. Closing
   * it closes nothing; it ends with the executor that it comes from.
   * @throws ToolError `unknown_tool`
   */
  narrow(options: NarrowOptions): Executor;
  /** Results of reads, kept for a while; nothing is kept where it was switched off. */
  readonly cache: ResultCache;
  /** Cancels what runs, waits for it, closes the journal it opened. Closing twice is fine. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface EventBase {
  readonly callId: string;
  readonly toolName: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * In this order for every call: planned, approval_requested, approval_decided, started, stdout/stderr/progress,
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
