import { abortable } from '../base/abortable.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { RunOptions } from '../contract/executor.js';
import { conflicts, type PlacedEffect } from '../effects/conflicts.js';
import { approveBatch, approveDeferred, approverOf } from './approve/approve-batch.js';
import { review } from './approve/review.js';
import type { BatchScope } from './execute/batch-scope.js';
import { onAbort } from './execute/on-abort.js';
import { stackOf } from './execute/outcome.js';
import { schedule } from './execute/schedule.js';
import { type Stop, stoppedBefore } from './execute/stop.js';
import { currentScope } from './execute/stray-errors.js';
import { judgeBatch, replanner } from './plan/judge-batch.js';
import type { JudgedCall, ReadyCall } from './plan/judged-call.js';
import { toPlannedCall } from './plan/to-plan.js';
import { type ConversationQueue, QueuedBatch } from './queue.js';
import { acceptBatch, refuseUnrecorded } from './record/accept-batch.js';
import { cleanRefusal } from './record/clean-refusal.js';
import { reasonOf } from './record/reason-of.js';
import { Recorder } from './record/recorder.js';
import { CANCELLED_MESSAGE, failure, notRun } from './record/results.js';
import { takeCapacity } from './record/take-capacity.js';
import type { Recovery } from './recover/recovery.js';
import { CallRunner } from './run-call.js';

const PARALLEL_LIMIT = 8;

interface BatchSurroundings {
  readonly recovery: Pick<Recovery, 'ensure'>;
  readonly queue: ConversationQueue;
  /** Called once, when all results are there. */
  readonly ended: (batch: Batch, scope: BatchScope) => void;
}

/**
 * One batch from its calls to its results: planned, recorded, approved as a whole, then call by call claimed, executed
 * and recorded. `#live` is the life of the batch, `#runCall` that of one call.
 *
 * A step gives a promise only where something has to be waited for: most calls are answered without one, but for the
 * tool's own. Whatever breaks on the way, every call is answered once.
 */
export class Batch extends QueuedBatch {
  readonly #calls: readonly ToolCall[];
  readonly #scope: BatchScope;
  readonly #options: RunOptions;
  readonly #recorder: Recorder | undefined;
  readonly #around: BatchSurroundings;
  readonly #queue: ConversationQueue;
  /** Made inside a call of its own conversation: it waits for none, and none waits for it. */
  readonly #isInner: boolean;
  readonly #results: (ToolResult | undefined)[];
  #judged: readonly JudgedCall[] = NOTHING_JUDGED;
  #isPlanned = false;
  readonly #runner: CallRunner;
  /** Records that are being written. */
  #writing: Promise<void>[] = NOTHING_WRITTEN;
  #stop: Stop | undefined;
  #stopping: AbortController | undefined;
  #ending: Promise<ToolResult[]> | undefined;

  constructor(calls: readonly ToolCall[], scope: BatchScope, options: RunOptions, around: BatchSurroundings) {
    super();
    const { journal, mode } = scope.settings;
    // What is not meant to happen is not recorded: it would answer a later delivery that is.
    const isRecorded = journal !== null && !scope.dryRun && mode === 'enabled';
    this.#calls = calls;
    this.#scope = scope;
    this.#options = options;
    this.#recorder = isRecorded ? new Recorder(journal, scope, () => this.stopped) : undefined;
    this.#around = around;
    this.#queue = around.queue;
    this.#results = new Array<ToolResult | undefined>(calls.length).fill(undefined);
    this.#runner = new CallRunner({
      scope,
      options,
      recorder: this.#recorder,
      queue: around.queue,
      turn: (effects) => (this.#isInner ? undefined : this.#queue.turn(this, effects)),
      stop: () => this.#stop,
    });
    this.#isInner = currentScope()?.queue === this.#queue;
    if (!this.#isInner) this.#queue.enter(this);
  }

  /** Lives the batch, the first time. Never rejects. */
  results(): Promise<ToolResult[]> {
    this.#ending ??= this.#live();
    return this.#ending;
  }

  /** Ends what runs and answers what is left. The first time counts. */
  stop(stop: Stop): void {
    if (this.#stop !== undefined) return;
    this.#stop = stop;
    this.#stopping?.abort(new Error(CANCELLED_MESSAGE));
    this.#runner.stop(stop);
  }

  async #live(): Promise<ToolResult[]> {
    const unlisten = this.#listen();
    try {
      const planned = this.#plan();
      if (planned !== undefined) await planned;
      const recorded = this.#record();
      if (recorded !== undefined) await recorded;
      const approved = this.#approve();
      if (approved !== undefined) await approved;
      const { parallel = false, concurrency = parallel ? PARALLEL_LIMIT : 1 } = this.#options;
      if (concurrency > 1) await this.#executeTogether(concurrency, parallel);
      else {
        for (let index = 0; index < this.#judged.length; index++) {
          const shown = this.#shownBefore(index);
          if (shown !== undefined) await shown;
          const answer = this.#runCall(index);
          this.#answer(index, answer instanceof Promise ? await answer : answer);
        }
      }
    } catch (error) {
      // Whatever broke did so before anything ran: what runs is caught where it runs.
      this.#log(error);
      for (let index = 0; index < this.#calls.length; index++)
        this.#answer(index, this.#neverRun(index, error));
    }
    this.#runner.end();
    if (!this.#isInner) this.#queue.leave(this);
    if (this.#writing.length > 0) await Promise.all(this.#writing);
    unlisten?.();
    this.#around.ended(this, this.#scope);
    return this.#results.map((result, index) => result ?? this.#lost(index));
  }

  // ---- plan -----------------------------------------------------------------------------------------------------

  #plan(): Promise<void> | undefined {
    const { settings } = this.#scope;
    const judged = judgeBatch(this.#calls, settings, this.#options.turn);
    if (judged instanceof Promise || settings.reviewers.length > 0) return this.#planSlowly(judged);
    this.#setPlanned(judged);
    return undefined;
  }

  async #planSlowly(judged: JudgedCall[] | Promise<JudgedCall[]>): Promise<void> {
    const { settings } = this.#scope;
    const { signal } = this;
    this.#judged = judged instanceof Promise ? await this.#inTime(judged) : judged;
    const replan = replanner(settings);
    const reviewed = await Promise.all(
      this.#judged.map((call) =>
        call.kind === 'ready' && this.#stop === undefined && settings.reviewers.length > 0
          ? review(call, settings.reviewers, replan, signal)
          : call,
      ),
    );
    this.#setPlanned(reviewed);
  }

  #setPlanned(judged: readonly JudgedCall[]): void {
    this.#judged = judged;
    this.#isPlanned = true;
    this.changed();
    const { observer } = this.#scope;
    if (observer !== undefined) for (const call of judged) observer.planned(toPlannedCall(call));
  }

  // A schema of the tool's own may never answer; neither the batch nor its cancellation may wait for that (D107).
  async #inTime(judged: Promise<JudgedCall[]>): Promise<JudgedCall[]> {
    const { clock, timeouts } = this.#scope.settings;
    const { ms } = timeouts.default;
    const late = new AbortController();
    const forget = clock.after(ms, () =>
      late.abort(new Error(`the arguments could not be checked within ${ms}ms`)),
    );
    try {
      return await abortable(() => abortable(() => judged, this.signal), late.signal);
    } finally {
      forget();
    }
  }

  // ---- record ---------------------------------------------------------------------------------------------------

  /** The batch is recorded whole before any of it may have an effect. */
  #record(): Promise<void> | undefined {
    const recorder = this.#recorder;
    if (recorder === undefined || this.#scope.deferred !== undefined) return undefined;
    const { recovery } = this.#around;
    const parts = { scope: this.#scope, options: this.#options, recorder, recovery };
    const accepted = acceptBatch(this.#judged, parts);
    if (!(accepted instanceof Promise)) {
      this.#judged = accepted;
      return undefined;
    }
    return accepted.then((judged) => {
      this.#judged = judged;
    });
  }

  // ---- approve --------------------------------------------------------------------------------------------------

  #approve(): Promise<void> | undefined {
    const { deferred } = this.#scope;
    if (deferred === undefined && approverOf(this.#options, this.#scope) === null) return undefined;
    if (this.#stop !== undefined && deferred === undefined) return undefined;
    let waiting: number[] | undefined;
    for (let index = 0; index < this.#judged.length; index++) {
      const call = this.#judged[index];
      if (call?.kind === 'ready' && call.needsApproval && this.#runsForReal(call)) {
        waiting ??= [];
        waiting.push(index);
      }
    }
    return waiting === undefined && deferred === undefined ? undefined : this.#ask(waiting ?? []);
  }

  async #ask(waiting: readonly number[]): Promise<void> {
    const { signal } = this;
    const scope = this.#scope;
    const recorder = this.#recorder;
    const inner = { queue: this.#queue };
    const parts = { scope, options: this.#options, recorder, judged: this.#judged, waiting, signal, inner };
    try {
      this.#judged =
        scope.deferred === undefined || recorder === undefined
          ? await approveBatch(parts)
          : await approveDeferred({ ...parts, recorder }, scope.deferred.calls);
    } catch (error) {
      this.#judged = refuseUnrecorded(this.#judged, scope, error);
    }
  }

  /** A call that only looks runs in a dry run as well. */
  #runsForReal({ onlyReads }: ReadyCall): boolean {
    return !this.#scope.dryRun || onlyReads;
  }

  // ---- execute: call by call ------------------------------------------------------------------------------------

  #executeTogether(limit: number, parallel: boolean): Promise<void> {
    const { covers } = this.#scope.settings;
    const waitsForEarlier = (later: number, earlier: number): boolean =>
      conflicts(this.#judged[later]?.effects ?? [], this.#judged[earlier]?.effects ?? [], covers);
    return schedule(this.#judged.length, limit, parallel ? waitsForEarlier : undefined, async (index) => {
      this.#answer(index, await this.#runCall(index));
    });
  }

  /**
   * Whoever watches sees one call completed before the next one starts. A claim brings the results before it to the
   * disk, and with that to the reader; a call that only reads has none, and waits for them here.
   */
  #shownBefore(index: number): Promise<unknown> | undefined {
    const next = this.#judged[index];
    if (this.#scope.observer === undefined || this.#writing.length === 0) return undefined;
    return next?.kind === 'ready' && next.onlyReads ? Promise.all(this.#writing) : undefined;
  }

  /** Never throws or rejects. */
  #runCall(index: number): ToolResult | Promise<ToolResult> {
    const call = this.#judged[index];
    if (call === undefined) return this.#lost(index);
    if (call.kind === 'resolved') return call.result;
    if (this.#stop !== undefined) return stoppedBefore(call.call, this.#stop);
    return this.#runsForReal(call) ? this.#runner.run(index, call) : dryRunResult(call);
  }

  // ---- answer and record ----------------------------------------------------------------------------------------

  /** The one answer of a call; the first counts. It is shown as completed once it is on disk. Never throws. */
  #answer(index: number, answer: ToolResult): void {
    if (this.#results[index] !== undefined) return;
    const judged = this.#judged[index];
    const call = judged?.call ?? nameOf(this.#calls[index], index);
    // Read from the journal: it is there. What another process has taken is that one's to answer.
    const isRecorded = judged?.kind === 'resolved' && judged.recorded === true;
    const isOurs = !isRecorded && !this.#runner.isTaken(index);
    const result = this.#fitted(answer, isRecorded);
    this.#results[index] = result;
    const written = isOurs ? (this.#recorder?.finish(index, call, result) ?? true) : true;
    if (written instanceof Promise) {
      if (this.#writing === NOTHING_WRITTEN) this.#writing = [];
      this.#writing.push(written.then((isOnDisk) => this.#complete(index, call, isOnDisk)));
    } else {
      this.#complete(index, call, written);
    }
    this.changed();
    if (this.#options.failFast === true && !result.success) this.stop({ cause: 'fail_fast' });
  }

  #fitted(answer: ToolResult, isRecorded: boolean): ToolResult {
    try {
      const refused = !answer.success && answer.error.details?.executed === 'no' && !isRecorded;
      return takeCapacity(refused ? cleanRefusal(answer, this.#scope.settings) : answer, this.#scope);
    } catch (error) {
      this.#log(error);
      return { ...answer, output: '', truncated: true };
    }
  }

  #complete(index: number, call: Pick<ToolCall, 'id' | 'name'>, isOnDisk: boolean): void {
    let result = this.#results[index] as ToolResult;
    if (!isOnDisk) {
      result = { ...result, metadata: { ...result.metadata, recorded: false } };
      this.#results[index] = result;
    }
    this.#scope.observer?.completed(call, result);
  }

  #neverRun(index: number, error: unknown): ToolResult {
    const named = nameOf(this.#calls[index], index);
    if (this.#stop !== undefined) return stoppedBefore(named, this.#stop);
    return notRun(named, 'execution_failed', `Nothing was run: ${reasonOf(error)}`);
  }

  // Cannot happen while every path of `#runCall` answers; an answer is owed all the same.
  #lost(index: number): ToolResult {
    const call = nameOf(this.#calls[index], index);
    return failure(call, 'outcome_unknown', 'The call ended without an answer.', 'maybe');
  }

  #log(error: unknown): void {
    const { id, settings } = this.#scope;
    settings.logger.error({ batch: id, stack: stackOf(error) }, 'a batch broke');
  }

  // ---- for the queue --------------------------------------------------------------------------------------------

  get isStopped(): boolean {
    return this.#stop !== undefined;
  }

  /** Aborts when the batch is told to stop. */
  get signal(): AbortSignal {
    if (this.#stopping === undefined) {
      this.#stopping = new AbortController();
      if (this.#stop !== undefined) this.#stopping.abort(new Error(CANCELLED_MESSAGE));
    }
    return this.#stopping.signal;
  }

  get stopped(): Promise<void> {
    this.#stoppedPromise ??= new Promise((resolve) => {
      const { signal } = this;
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    return this.#stoppedPromise;
  }

  #stoppedPromise: Promise<void> | undefined = undefined;

  holdsUp(clash: (effects: readonly PlacedEffect[]) => boolean, calls: 'unanswered' | 'executing'): boolean {
    if (calls === 'executing') return this.#runner.executing.some(({ effects }) => clash(effects));
    if (!this.#isPlanned) return true;
    return this.#judged.some(
      (call, index) => call.kind === 'ready' && this.#results[index] === undefined && clash(call.effects),
    );
  }

  #listen(): (() => void) | undefined {
    const { signal } = this.#options;
    if (signal === undefined) return undefined;
    const stop = (): void => this.stop(cancelled(signal.reason));
    if (!signal.aborted) return onAbort(signal, stop);
    stop();
    return undefined;
  }
}

const NOTHING_JUDGED: readonly JudgedCall[] = [];
const NOTHING_WRITTEN: Promise<void>[] = [];

export function cancelled(reason: unknown): Stop {
  return typeof reason === 'string' ? { cause: 'cancelled', reason } : { cause: 'cancelled' };
}

/** What a dry run answers for a call that would change something: nothing ran, no question was asked. */
function dryRunResult({ call, summary }: ReadyCall): ToolResult {
  return {
    callId: call.id,
    toolName: call.name,
    success: true,
    output: `[Dry Run] ${summary}`,
    truncated: false,
    executionTimeMs: 0,
    metadata: { dry_run: true },
  };
}

function nameOf(call: unknown, index: number): { readonly id: string; readonly name: string } {
  const { id, name } = (typeof call === 'object' && call !== null ? call : {}) as Partial<ToolCall>;
  return {
    id: typeof id === 'string' && id !== '' ? id : `call_${index}`,
    name: typeof name === 'string' ? name : 'unknown',
  };
}
