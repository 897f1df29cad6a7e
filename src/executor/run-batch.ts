import { onAbort } from '../base/on-abort.js';
import { runTogether } from '../base/run-together.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { RunOptions } from '../contract/executor.js';
import { conflicts, type PlacedEffect } from '../effects/conflicts.js';
import { refuseUnrecorded } from './answer/refuse-ready.js';
import { lost, type NamedCall, nameOf, notRun, reasonOf } from './answer/results.js';
import { cancelled, type Stop, stoppedBefore, toReason } from './answer/stopped.js';
import { stackOf } from './answer/thrown.js';
import { approveBatch, approveDeferred, approverOf } from './approve/approve-batch.js';
import { reviewPlan } from './approve/review.js';
import type { BatchScope } from './call/batch-scope.js';
import type { EvaluatedCall, ReadyCall } from './call/evaluated-call.js';
import { currentScope } from './call/unhandled-errors.js';
import type { Execution } from './execute/execution.js';
import { planBatch } from './plan/plan-batch.js';
import { plannedParts } from './plan/to-plan.js';
import { type ConversationQueue, QueuedBatch, type ReservedPlace } from './queue.js';
import type { CallRecovery } from './record/attach.js';
import { originsFor } from './record/conversation-origins.js';
import { type RecordedBatch, Recorder } from './record/recorder.js';
import type { Recovery } from './recover/recovery.js';
import { answerCall, runCall } from './run-call.js';
import { runElsewhere } from './run-elsewhere.js';

const PARALLEL_LIMIT = 8;

interface BatchContext {
  readonly recovery: Pick<Recovery, 'ensure' | 'recoverLeft' | 'recoverLost'>;
  readonly queue: ConversationQueue;
  /** In that queue. Undefined: none was reserved. */
  readonly place: ReservedPlace | undefined;
  /** The executor that runs it. */
  readonly owner: object;
  /** Called once, with all results. */
  readonly ended: (batch: Batch, scope: BatchScope) => void;
}

/**
 * The life of one batch: planned, recorded and approved as a whole, then run call by call (`run-call.ts`).
 *
 * 1. Every call has one answer, whatever fails, and the batch ends when all answers are recorded.
 * 2. The whole batch is in the journal before any of its calls may have an effect.
 * 3. There is one question for the batch, before any of its calls runs.
 * 4. Calls start in order. With `concurrency` several run at a time; with `parallel`, later calls may overtake a call
 *    that waits for an earlier conflicting one.
 * 5. A stopped batch starts no more calls, and stops the calls that are executing.
 * 6. A batch made inside a call of its own conversation is not in the queue: it waits for no other batch, and no other
 *    waits for it.
 */
export class Batch extends QueuedBatch implements RecordedBatch {
  readonly owner: object;
  readonly scope: BatchScope;
  readonly options: RunOptions;
  readonly queue: ConversationQueue;
  readonly recovery: CallRecovery;
  /** Undefined: this batch is not recorded. */
  readonly recorder: Recorder | undefined;
  /** By call; undefined: the call is not executing now. */
  readonly executions: (Execution | undefined)[];
  /** By call; set once a call is answered. */
  readonly answers: (ToolResult | undefined)[];
  readonly #calls: readonly ToolCall[];
  readonly #context: BatchContext;
  readonly #isInner: boolean;
  /** Undefined: not planned yet. */
  #evaluated: readonly EvaluatedCall[] | undefined = undefined;
  /** Answers that are not on disk yet. */
  #recording: Promise<void>[] = [];
  #stop: Stop | undefined = undefined;
  /** Created on demand: most batches end without being stopped. */
  #stopping: AbortController | undefined = undefined;
  #stopped: Promise<void> | undefined = undefined;
  #ending: Promise<ToolResult[]> | undefined = undefined;

  constructor(calls: readonly ToolCall[], scope: BatchScope, options: RunOptions, context: BatchContext) {
    super();
    const { journal, mode } = scope.settings;
    // A call that is not meant to run is not recorded, because its record would answer a later delivery that
    // is meant to.
    const isRecorded = journal !== null && !scope.dryRun && mode === 'enabled';
    this.owner = context.owner;
    this.scope = scope;
    this.options = options;
    this.queue = context.queue;
    this.recovery = context.recovery;
    this.recorder = isRecorded ? new Recorder(journal, scope, options, this) : undefined;
    this.executions = new Array<Execution | undefined>(calls.length).fill(undefined);
    this.answers = new Array<ToolResult | undefined>(calls.length).fill(undefined);
    this.#calls = calls;
    this.#context = context;
    this.#isInner = currentScope()?.queue === this.queue;
    this.isPlaced =
      !isRecorded || scope.deferred !== undefined || !this.isOrdered || scope.taken !== undefined;
    if (!this.#isInner) this.queue.enter(this, context.place);
  }

  /** Runs the batch on the first call. Never rejects. */
  results(): Promise<ToolResult[]> {
    this.#ending ??= this.#live();
    return this.#ending;
  }

  /** The results of a batch that starts once `ready` resolves. If `ready` rejects, nothing runs. */
  async resultsAfter(ready: Promise<void>): Promise<ToolResult[]> {
    try {
      await ready;
    } catch (error) {
      this.#abandon();
      throw error;
    }
    return this.results();
  }

  /** Removes the batch from the queue, because none of its calls may run. Has no effect once the batch has started. */
  #abandon(): void {
    if (this.#ending !== undefined) return;
    if (!this.#isInner) this.queue.leave(this);
    this.#context.ended(this, this.scope);
  }

  async #live(): Promise<ToolResult[]> {
    const { signal } = this.options;
    const unlisten = signal && onAbort(signal, () => this.stop(cancelled(signal.reason)));
    try {
      this.#evaluated = await this.#plan();
      this.changed();
      const { observer } = this.scope;
      if (observer !== undefined)
        for (const call of this.#evaluated)
          observer.planned(call.call, plannedParts(call, this.scope.settings));
      const { deferred, taken, placement } = this.scope;
      if (taken !== undefined) this.recorder?.adopt([taken.record]);
      else if (this.recorder !== undefined && deferred === undefined)
        this.#evaluated = await this.recorder.accept(this.#evaluated, this.#context.recovery.ensure());
      this.placed();
      if (this.#mustAsk(this.#evaluated)) this.#evaluated = await this.#approve(this.#evaluated);
      const calls = this.scope.preview?.approved(this.#evaluated) ?? this.#evaluated;
      this.#evaluated = calls;
      const { parallel = false, concurrency = parallel ? PARALLEL_LIMIT : 1 } = this.options;
      if (this.recorder !== undefined && placement !== undefined) await runElsewhere(this, this.recorder);
      else if (concurrency > 1) await this.#executeTogether(calls, concurrency, parallel);
      else
        for (let index = 0; index < calls.length; index++)
          await runCall(index, calls[index] as EvaluatedCall, this);
    } catch (error) {
      this.#breakOff(error);
    }
    if (!this.#isInner) this.queue.leave(this);
    if (this.#recording.length > 0) await this.recorded();
    unlisten?.();
    this.#context.ended(this, this.scope);
    for (let index = 0; index < this.answers.length; index++)
      this.answers[index] ??= lost(this.#nameOf(index));
    return this.answers as ToolResult[];
  }

  /** Planned before the first `await` unless a journal has to be read: the caller may change its objects meanwhile. */
  async #plan(): Promise<readonly EvaluatedCall[]> {
    const { settings, memory, taken } = this.scope;
    // The host of a worker's call has already compared its arguments with all texts.
    const reading = settings.policy === null ? undefined : originsFor(memory, settings, taken === undefined);
    const origins = reading instanceof Promise ? await reading : reading;
    const informed = origins === undefined ? settings : { ...settings, origins };
    const planning = planBatch(this.#calls, informed, this.options.turn);
    return reviewPlan(planning, this, informed);
  }

  #mustAsk(recorded: readonly EvaluatedCall[]): boolean {
    const { deferred, preview, taken } = this.scope;
    if (deferred !== undefined) return true;
    // Consent to a call of another process is bound to the contents of files.
    const isFree = taken === undefined && approverOf(this.options, this.scope) === null;
    if (this.isStopped || isFree) return false;
    return preview !== undefined || recorded.some(needsApproval);
  }

  /** The one question about the batch. */
  async #approve(recorded: readonly EvaluatedCall[]): Promise<readonly EvaluatedCall[]> {
    const { scope, options, recorder } = this;
    const { deferred, preview, taken } = scope;
    const planned = preview?.planned(recorded) ?? recorded;
    const evaluated = taken?.isByPerson === true ? planned.map(asAgreed) : planned;
    const waiting: number[] = [];
    for (const [index, call] of evaluated.entries())
      if (needsApproval(call) && this.runsForReal(call)) waiting.push(index);
    if (deferred === undefined && waiting.length === 0) return evaluated;
    const inner = { queue: this.queue };
    const parts = { scope, options, recorder, evaluated, waiting, signal: this.signal, inner };
    try {
      return deferred === undefined || recorder === undefined
        ? await approveBatch(parts)
        : await approveDeferred({ ...parts, recorder }, deferred.calls);
    } catch (error) {
      return refuseUnrecorded(evaluated, scope, error, scope.placement !== undefined);
    }
  }

  #executeTogether(calls: readonly EvaluatedCall[], limit: number, parallel: boolean): Promise<void> {
    const { covers } = this.scope.settings;
    const waitsFor = (later: number, earlier: number): boolean =>
      parallel && conflicts(calls[later]?.effects ?? [], calls[earlier]?.effects ?? [], covers);
    const run = (index: number): Promise<void> => runCall(index, calls[index] as EvaluatedCall, this);
    return runTogether({ count: calls.length, limit, waitsFor, run });
  }

  /** Something failed before any call ran. A running call handles its own failures. */
  #breakOff(error: unknown): void {
    const { id, settings } = this.scope;
    settings.logger.error({ batch: id, stack: stackOf(error) }, 'a batch broke');
    const why = `Nothing was run: ${reasonOf(error)}`;
    const stop = this.#stop;
    for (const [index, answer] of this.answers.entries()) {
      if (answer !== undefined) continue;
      const call = this.#nameOf(index);
      const result = stop === undefined ? notRun(call, 'execution_failed', why) : stoppedBefore(call, stop);
      answerCall(index, call, { result }, this);
    }
  }

  /** First as planned, then as recorded, then as approved; empty before. */
  get calls(): readonly EvaluatedCall[] {
    return this.#evaluated ?? [];
  }

  #nameOf(index: number): NamedCall {
    return this.#evaluated?.[index]?.call ?? nameOf(this.#calls[index], index);
  }

  /** False: the call is answered as in a dry run. A call that only reads runs there too. */
  runsForReal(call: ReadyCall): boolean {
    const { preview, dryRun } = this.scope;
    return preview === undefined ? !dryRun || call.onlyReads : preview.runs(call);
  }

  /** A call has its answer, which may not be on disk yet. */
  answered(index: number, { success }: ToolResult): void {
    this.scope.preview?.answered(index);
    this.changed();
    if (this.options.failFast === true && !success) this.stop({ cause: 'fail_fast' });
  }

  /** Registers work that must end before the batch does. */
  waitsFor(recording: Promise<void>): void {
    this.#recording.push(recording);
  }

  /** Resolves when all answers so far are recorded and shown. */
  async recorded(): Promise<void> {
    while (this.#recording.length > 0) await Promise.all(this.#recording.splice(0));
  }

  /** Stops the batch and its executing calls. The first reason counts. */
  stop(stop: Stop): void {
    if (this.#stop !== undefined) return;
    this.#stop = stop;
    this.#stopping?.abort(toReason(stop));
    this.recorder?.deadline.hurry();
    for (const execution of [...this.executions]) execution?.stop(stop);
  }

  get isOrdered(): boolean {
    return !this.#isInner && this.options.conversation !== undefined;
  }

  arrival(): Promise<void> {
    return this.queue.arrival(this);
  }

  placed(): void {
    if (this.isPlaced) return;
    this.isPlaced = true;
    this.changed();
  }

  /** Undefined: the batch was not stopped. */
  get stopReason(): Stop | undefined {
    return this.#stop;
  }

  get isStopped(): boolean {
    return this.#stop !== undefined;
  }

  /** Aborts when the batch is stopped. */
  get signal(): AbortSignal {
    if (this.#stopping === undefined) {
      this.#stopping = new AbortController();
      if (this.#stop !== undefined) this.#stopping.abort(toReason(this.#stop));
    }
    return this.#stopping.signal;
  }

  get stopped(): Promise<void> {
    this.#stopped ??= new Promise((resolve) => void onAbort(this.signal, resolve));
    return this.#stopped;
  }

  holdsUp(clash: (effects: readonly PlacedEffect[]) => boolean, calls: 'unanswered' | 'executing'): boolean {
    if (calls === 'executing')
      return this.executions.some((execution) => execution !== undefined && clash(execution.effects));
    if (this.#evaluated === undefined) return true;
    return this.#evaluated.some(
      (call, index) => call.kind === 'ready' && this.answers[index] === undefined && clash(call.effects),
    );
  }
}

/** A person agreed to the call where it was accepted, whatever the rules of this worker say. */
function asAgreed(call: EvaluatedCall): EvaluatedCall {
  return call.kind === 'ready' ? call.agreed() : call;
}

function needsApproval(call: EvaluatedCall): call is ReadyCall {
  return call.kind === 'ready' && call.needsApproval;
}
