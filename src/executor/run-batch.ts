import type { LiveMember } from '../base/live-set.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { RunOptions } from '../contract/executor.js';
import { conflicts, type PlacedEffect } from '../effects/conflicts.js';
import { fitted } from './answer/fit-result.js';
import { dryRunResult, notRun, reasonOf } from './answer/results.js';
import { stackOf } from './answer/thrown.js';
import { approveBatch, approveDeferred, approverOf } from './approve/approve-batch.js';
import { planSlowly } from './approve/review.js';
import type { BatchScope } from './call/batch-scope.js';
import type { EvaluatedCall, ReadyCall } from './call/evaluated-call.js';
import { currentScope } from './call/unhandled-errors.js';
import { Schedule } from './execute/schedule.js';
import { type Stop, stoppedBefore } from './execute/stop.js';
import { planBatch } from './plan/plan-batch.js';
import { toPlannedCall } from './plan/to-plan.js';
import type { ConversationQueue } from './queue.js';
import { acceptBatch, refuseUnrecorded } from './record/accept-batch.js';
import { Answers, lost, nameOf } from './record/answers.js';
import { Recorder } from './record/recorder.js';
import type { Recovery } from './recover/recovery.js';
import { CallRunner, type RunningBatch } from './run-call.js';
import { onAbort, StoppableBatch } from './stoppable-batch.js';

const PARALLEL_LIMIT = 8;

interface BatchSurroundings {
  readonly recovery: Pick<Recovery, 'ensure'>;
  readonly queue: ConversationQueue;
  /** The executor that runs it. */
  readonly owner: object;
  /** Called once, when all results are there. */
  readonly ended: (batch: Batch, scope: BatchScope) => void;
}

/**
 * One batch from its calls to its results: planned, recorded, approved as a whole, then call by call claimed, executed
 * and recorded. `#live` is the life of the batch, `#runCall` that of one call.
 *
 * A step gives a promise only where something has to be waited for, and a call that is answered later hands its answer
 * to `answered`: promises are what costs most in a call that does little. Whatever breaks on the way, every call is
 * answered once.
 */
export class Batch extends StoppableBatch implements RunningBatch, LiveMember {
  place = -1;
  readonly scope: BatchScope;
  readonly options: RunOptions;
  readonly queue: ConversationQueue;
  readonly recorder: Recorder | undefined;
  readonly #calls: readonly ToolCall[];
  readonly #around: BatchSurroundings;
  /** Made inside a call of its own conversation: it waits for none, and none waits for it. */
  readonly #isInner: boolean;
  readonly #answers: Answers;
  #evaluated: readonly EvaluatedCall[] = NOTHING_EVALUATED;
  #isPlanned = false;
  readonly #runner: CallRunner;
  /** Goes on with a batch whose calls run together; undefined where they run one after the other. */
  #together: Schedule | undefined = undefined;
  #unlisten: (() => void) | undefined = undefined;
  #ending: Promise<ToolResult[]> | undefined = undefined;
  #deliver: (results: ToolResult[]) => void = nothing;

  constructor(calls: readonly ToolCall[], scope: BatchScope, options: RunOptions, around: BatchSurroundings) {
    super();
    const { journal, mode } = scope.settings;
    // What is not meant to happen is not recorded: it would answer a later delivery that is.
    const isRecorded = journal !== null && !scope.dryRun && mode === 'enabled';
    this.scope = scope;
    this.options = options;
    this.queue = around.queue;
    this.recorder = isRecorded ? new Recorder(journal, scope, this) : undefined;
    this.#calls = calls;
    this.#around = around;
    this.#answers = new Answers(calls.length, scope);
    this.#runner = new CallRunner(this);
    this.#isInner = currentScope()?.queue === this.queue;
    if (!this.#isInner) this.queue.enter(this);
  }

  get owner(): object {
    return this.#around.owner;
  }

  /** Lives the batch, the first time. Never rejects. */
  results(): Promise<ToolResult[]> {
    if (this.#ending === undefined) {
      this.#ending = new Promise((resolve) => {
        this.#deliver = resolve;
      });
      this.#live();
    }
    return this.#ending;
  }

  /** Takes the batch out of the queue again: none of it may run. Without effect once it has begun. */
  abandon(): void {
    if (this.#ending !== undefined) return;
    if (!this.#isInner) this.queue.leave(this);
    this.#around.ended(this, this.scope);
  }

  protected override end(stop: Stop): void {
    this.recorder?.hurry();
    this.#runner.stop(stop);
  }

  #live(): void {
    this.#listen();
    try {
      const preparing = this.#prepare(0);
      if (preparing === undefined) this.#execute();
      else void this.#executeAfter(preparing);
    } catch (error) {
      this.#breakOff(error);
    }
  }

  /** What comes before the first call, in this order. */
  static readonly #PREPARATION: readonly ((batch: Batch) => Promise<void> | undefined)[] = [
    (batch) => batch.#plan(),
    (batch) => batch.#record(),
    (batch) => batch.#approve(),
  ];

  #prepare(first: number): Promise<void> | undefined {
    for (let step = first; step < Batch.#PREPARATION.length; step++) {
      const pending = Batch.#PREPARATION[step]?.(this);
      if (pending !== undefined) return this.#prepareAfter(pending, step + 1);
    }
    return undefined;
  }

  async #prepareAfter(pending: Promise<void>, next: number): Promise<void> {
    await pending;
    await this.#prepare(next);
  }

  async #executeAfter(preparing: Promise<void>): Promise<void> {
    try {
      await preparing;
      this.#execute();
    } catch (error) {
      this.#breakOff(error);
    }
  }

  // Whatever broke did so before anything ran: what runs is caught where it runs.
  #breakOff(error: unknown): void {
    this.#log(error);
    for (let index = 0; index < this.#calls.length; index++)
      this.#answer(index, this.#neverRun(index, error));
    this.#finish();
  }

  // ---- plan -----------------------------------------------------------------------------------------------------

  #plan(): Promise<void> | undefined {
    const { settings } = this.scope;
    const evaluated = planBatch(this.#calls, settings, this.options.turn);
    if (evaluated instanceof Promise || settings.reviewers.length > 0) return this.#planSlowly(evaluated);
    this.#setPlanned(evaluated);
    return undefined;
  }

  async #planSlowly(evaluated: EvaluatedCall[] | Promise<EvaluatedCall[]>): Promise<void> {
    this.#setPlanned(await planSlowly(evaluated, this, this.scope.settings));
  }

  #setPlanned(evaluated: readonly EvaluatedCall[]): void {
    this.#evaluated = evaluated;
    this.#isPlanned = true;
    this.changed();
    const { observer } = this.scope;
    if (observer !== undefined) for (const call of evaluated) observer.planned(toPlannedCall(call));
  }

  // ---- record ---------------------------------------------------------------------------------------------------

  /** The batch is recorded whole before any of it may have an effect. */
  #record(): Promise<void> | undefined {
    const { scope, options, recorder } = this;
    if (recorder === undefined || scope.deferred !== undefined) return undefined;
    const { recovery } = this.#around;
    const accepted = acceptBatch(this.#evaluated, { scope, options, recorder, recovery });
    if (accepted instanceof Promise) return this.#recordSlowly(accepted);
    this.#evaluated = accepted;
    return undefined;
  }

  async #recordSlowly(accepted: Promise<readonly EvaluatedCall[]>): Promise<void> {
    this.#evaluated = await accepted;
  }

  // ---- approve --------------------------------------------------------------------------------------------------

  #approve(): Promise<void> | undefined {
    const { deferred } = this.scope;
    if (deferred === undefined && approverOf(this.options, this.scope) === null) return undefined;
    if (this.isStopped && deferred === undefined) return undefined;
    const { preview } = this.scope;
    if (preview !== undefined) this.#evaluated = preview.planned(this.#evaluated);
    let waiting: number[] | undefined;
    for (let index = 0; index < this.#evaluated.length; index++) {
      const call = this.#evaluated[index];
      if (call?.kind === 'ready' && call.needsApproval && this.#runsForReal(call)) {
        waiting ??= [];
        waiting.push(index);
      }
    }
    return waiting === undefined && deferred === undefined ? undefined : this.#ask(waiting ?? []);
  }

  async #ask(waiting: readonly number[]): Promise<void> {
    const { signal, scope, options, recorder } = this;
    const inner = { queue: this.queue };
    const parts = { scope, options, recorder, evaluated: this.#evaluated, waiting, signal, inner };
    try {
      this.#evaluated =
        scope.deferred === undefined || recorder === undefined
          ? await approveBatch(parts)
          : await approveDeferred({ ...parts, recorder }, scope.deferred.calls);
    } catch (error) {
      this.#evaluated = refuseUnrecorded(this.#evaluated, scope, error);
    }
  }

  /** A call that only looks runs in a dry run as well. */
  #runsForReal(call: ReadyCall): boolean {
    if (this.scope.preview !== undefined) return this.scope.preview.runs(call);
    return !this.scope.dryRun || call.onlyReads;
  }

  // ---- execute: call by call ------------------------------------------------------------------------------------

  #execute(): void {
    const { preview } = this.scope;
    if (preview !== undefined) this.#evaluated = preview.approved(this.#evaluated);
    const { parallel = false, concurrency = parallel ? PARALLEL_LIMIT : 1 } = this.options;
    if (concurrency > 1) this.#executeTogether(concurrency, parallel);
    else this.#executeFrom(0);
  }

  /** One call after the other, from this one on, up to one that has to be waited for: `answered` goes on from there. */
  #executeFrom(first: number): void {
    for (let index = first; index < this.#evaluated.length; index++) {
      const shown = this.#shownBefore(index);
      if (shown !== undefined) {
        void this.#executeAfterShown(shown, index);
        return;
      }
      const answer = this.#runCall(index);
      if (answer === undefined) return;
      this.#answer(index, answer);
    }
    this.#finish();
  }

  #executeTogether(limit: number, parallel: boolean): void {
    const { covers } = this.scope.settings;
    const waitsForEarlier = (later: number, earlier: number): boolean =>
      conflicts(this.#evaluated[later]?.effects ?? [], this.#evaluated[earlier]?.effects ?? [], covers);
    const start = (index: number): boolean => {
      const answer = this.#runCall(index);
      if (answer === undefined) return false;
      this.#answer(index, answer);
      return true;
    };
    const waitsFor = parallel ? waitsForEarlier : undefined;
    this.#together = new Schedule({ count: this.#evaluated.length, limit, waitsFor, start }, () =>
      this.#finish(),
    );
    this.#together.begin();
  }

  /**
   * A reader of the events sees one call completed before the next one starts. A claim brings the results before it to the
   * disk, and with that to the reader; a call that only reads has none, and waits for them here.
   */
  #shownBefore(index: number): Promise<void> | undefined {
    if (this.scope.observer === undefined) return undefined;
    const next = this.#evaluated[index];
    if (next?.kind !== 'ready' || !next.onlyReads || this.#answers.areWritten) return undefined;
    return new Promise((resolve) => this.#answers.whenWritten(resolve));
  }

  async #executeAfterShown(shown: Promise<void>, index: number): Promise<void> {
    await shown;
    this.#goOn(index);
  }

  /** Undefined: the answer comes later, through `answered`. Never throws. */
  #runCall(index: number): ToolResult | undefined {
    const call = this.#evaluated[index];
    if (call === undefined) return lost(nameOf(this.#calls[index], index));
    if (call.kind === 'resolved') return call.result;
    if (this.stopReason !== undefined) return stoppedBefore(call.call, this.stopReason);
    return this.#runsForReal(call) ? this.#runner.run(index, call) : dryRunResult(call);
  }

  /** Takes the answer of a call that had to be waited for. */
  answered(index: number, answer: ToolResult): void {
    this.#answer(index, answer);
    if (this.#together === undefined) this.#goOn(index + 1);
    else this.#together.finished(index);
  }

  #goOn(index: number): void {
    try {
      this.#executeFrom(index);
    } catch (error) {
      this.#breakOff(error);
    }
  }

  // ---- answer and record ----------------------------------------------------------------------------------------

  /** The one answer of a call; the first counts. Never throws. */
  #answer(index: number, answer: ToolResult): void {
    if (this.#answers.has(index)) return;
    const evaluated = this.#evaluated[index];
    const call = evaluated?.call ?? nameOf(this.#calls[index], index);
    // Read from the journal: it is there. What another process has taken is that one's to answer.
    const isRecorded = evaluated?.kind === 'resolved' && evaluated.recorded === true;
    const isOurs = !isRecorded && !this.#runner.isTaken(index);
    const result = fitted(answer, isRecorded, this.scope);
    this.#answers.take(index, call, result, isOurs ? this.recorder : undefined);
    this.scope.preview?.answered(index);
    this.changed();
    if (this.options.failFast === true && !result.success) this.stop({ cause: 'fail_fast' });
  }

  #neverRun(index: number, error: unknown): ToolResult {
    const named = nameOf(this.#calls[index], index);
    if (this.stopReason !== undefined) return stoppedBefore(named, this.stopReason);
    return notRun(named, 'execution_failed', `Nothing was run: ${reasonOf(error)}`);
  }

  #log(error: unknown): void {
    const { id, settings } = this.scope;
    settings.logger.error({ batch: id, stack: stackOf(error) }, 'a batch broke');
  }

  /** All calls have their answers; the batch ends once these are recorded. */
  #finish(): void {
    if (!this.#isInner) this.queue.leave(this);
    if (this.#answers.areWritten) this.#handOver();
    else this.#answers.whenWritten(() => this.#handOver());
  }

  #handOver(): void {
    this.#unlisten?.();
    this.#around.ended(this, this.scope);
    this.#deliver(this.#answers.all(this.#calls));
  }

  #listen(): void {
    const { signal } = this.options;
    if (signal !== undefined) this.#unlisten = stopBy(signal, this);
  }

  // ---- for the queue --------------------------------------------------------------------------------------------

  holdsUp(clash: (effects: readonly PlacedEffect[]) => boolean, calls: 'unanswered' | 'executing'): boolean {
    // Asked of every batch in the conversation for every call: loops, because they leave nothing behind.
    if (calls === 'executing') {
      for (const { effects } of this.#runner.executing) if (clash(effects)) return true;
      return false;
    }
    if (!this.#isPlanned) return true;
    for (let index = 0; index < this.#evaluated.length; index++) {
      const call = this.#evaluated[index];
      if (call?.kind === 'ready' && !this.#answers.has(index) && clash(call.effects)) return true;
    }
    return false;
  }
}

const NOTHING_EVALUATED: readonly EvaluatedCall[] = [];
const nothing = (): void => {};

function stopBy(signal: AbortSignal, batch: Batch): (() => void) | undefined {
  const stop = (): void => batch.stop(cancelled(signal.reason));
  if (!signal.aborted) return onAbort(signal, stop);
  stop();
  return undefined;
}

export function cancelled(reason: unknown): Stop {
  return typeof reason === 'string' ? { cause: 'cancelled', reason } : { cause: 'cancelled' };
}
