import type { ToolCall } from '../../contract/call.js';
import type { RunOptions } from '../../contract/executor.js';
import type { ToolResult } from '../../contract/result.js';
import { conflicts } from '../../effects/conflicts.js';
import { cleanRefusal } from '../record/clean-refusal.js';
import { reasonOf } from '../record/reason-of.js';
import { Recorder } from '../record/recorder.js';
import { failure, notRun } from '../record/results.js';
import { takeCapacity } from '../record/take-capacity.js';
import { Admission, runsForReal } from './admission.js';
import type { BatchParts } from './batch-parts.js';
import type { BatchScope } from './batch-scope.js';
import { CallStarter, type CallTaker, stoppedBefore } from './call-starter.js';
import { dryRunResult } from './dry-run-result.js';
import { onAbort } from './on-abort.js';
import { stackOf } from './outcome.js';
import { schedule, type WaitsFor } from './schedule.js';
import type { Stop } from './stop.js';
import { StopSwitch } from './stop-switch.js';

const PARALLEL_LIMIT = 8;

/**
 * One batch from its calls to its results: admitted, then run. Every call ends in `#complete`, once. Answers are
 * called back: a promise for each step would cost more than the step, and most steps are done at once.
 */
export class Batch implements CallTaker {
  readonly #parts: BatchParts;
  readonly #onEnd: (batch: Batch) => void;
  readonly #starter: CallStarter;
  readonly #admission: Admission;
  readonly #results: (ToolResult | undefined)[];
  #ending: Promise<ToolResult[]> | undefined;
  #deliver: ((results: ToolResult[]) => void) | undefined;
  #unlisten: (() => void) | undefined;
  /** Who waits for which call, where several run at a time. */
  #waiting: Map<number, () => void> | undefined;

  constructor(
    calls: readonly ToolCall[],
    scope: BatchScope,
    options: RunOptions,
    onEnd: (batch: Batch) => void,
  ) {
    const { journal, mode } = scope.settings;
    // What is not meant to happen is not recorded: it would answer a later delivery that is.
    const recorded = journal !== null && !scope.dryRun && mode === 'enabled';
    const recorder = recorded ? new Recorder(journal, scope) : undefined;
    this.#parts = { calls, scope, options, recorder, stopping: new StopSwitch() };
    this.#onEnd = onEnd;
    this.#results = new Array<ToolResult | undefined>(calls.length).fill(undefined);
    this.#starter = new CallStarter(this.#parts, this);
    this.#admission = new Admission(this.#parts, this.#starter);
  }

  /** Ends what runs and answers what is left. */
  stop(stop: Stop): void {
    if (this.#parts.stopping.throw(stop)) this.#starter.stop(stop);
  }

  /** Starts the batch, the first time. Never rejects. */
  results(): Promise<ToolResult[]> {
    this.#ending ??= new Promise((resolve) => {
      this.#deliver = resolve;
      this.#start();
    });
    return this.#ending;
  }

  #start(): void {
    const { signal } = this.#parts.options;
    if (signal !== undefined) this.#listen(signal);
    let admitted: Promise<void> | undefined;
    try {
      admitted = this.#admission.admit();
    } catch (error) {
      this.#giveUp(error);
      return;
    }
    if (admitted === undefined) this.#run();
    else
      admitted.then(
        () => this.#run(),
        (error: unknown) => this.#giveUp(error),
      );
  }

  #listen(signal: AbortSignal): void {
    const stop = (): void => this.stop(cancelled(signal.reason));
    if (signal.aborted) stop();
    else this.#unlisten = onAbort(signal, stop);
  }

  #run(): void {
    const { parallel = false, concurrency = parallel ? PARALLEL_LIMIT : 1 } = this.#parts.options;
    if (concurrency === 1) this.#runFrom(0);
    else void this.#runTogether(concurrency, parallel).then(() => this.#end());
  }

  /** One after the other, until one has to be waited for: its answer goes on from there. */
  #runFrom(first: number): void {
    const { length } = this.#admission.judged;
    for (let index = first; index < length; index++) {
      const result = this.#runOne(index);
      if (result === undefined) return;
      this.#take(index, result);
    }
    this.#end();
  }

  #runTogether(limit: number, parallel: boolean): Promise<void> {
    this.#waiting = new Map();
    const waitsFor: WaitsFor = (later, earlier) => this.#waitsFor(later, earlier);
    return schedule(this.#admission.judged.length, limit, parallel ? waitsFor : undefined, async (index) => {
      const result = this.#runOne(index);
      if (result !== undefined) this.#take(index, result);
      else await new Promise<void>((resolve) => this.#waiting?.set(index, resolve));
    });
  }

  #waitsFor(later: number, earlier: number): boolean {
    const { judged } = this.#admission;
    const { covers } = this.#parts.scope.settings;
    return conflicts(judged[later]?.effects ?? [], judged[earlier]?.effects ?? [], covers);
  }

  /** Undefined: the answer comes with `answered`. */
  #runOne(index: number): ToolResult | undefined {
    try {
      const judged = this.#admission.judged[index];
      if (judged === undefined) return this.#lost(index);
      if (judged.kind === 'resolved') return judged.result;
      if (this.#parts.stopping.stop === undefined && !runsForReal(judged, this.#parts)) {
        return dryRunResult(judged);
      }
      return this.#starter.start(index, judged);
    } catch (error) {
      return this.#broken(index, error);
    }
  }

  answered(index: number, result: ToolResult): void {
    this.#take(index, result);
    if (this.#waiting === undefined) this.#runFrom(index + 1);
    else this.#waiting.get(index)?.();
  }

  #take(index: number, answer: ToolResult): void {
    try {
      this.#complete(index, answer);
    } catch (error) {
      this.#results[index] ??= this.#broken(index, error);
    }
  }

  #complete(index: number, answer: ToolResult): void {
    if (this.#results[index] !== undefined) return;
    const { scope, options, recorder } = this.#parts;
    const judged = this.#admission.judged[index];
    // Read from the journal: it is there.
    const recorded = judged?.kind === 'resolved' && judged.recorded === true;
    const refused = !answer.success && answer.error.details?.executed === 'no' && !recorded;
    const result = takeCapacity(refused ? cleanRefusal(answer, scope.settings) : answer, scope);
    this.#results[index] = result;
    const call = judged?.call ?? { id: result.callId, name: result.toolName };
    // What another process has taken is that one's to answer.
    const ours = !recorded && !this.#starter.isTaken(index);
    if (ours && judged !== undefined) recorder?.finish(index, call, result);
    scope.observer?.completed(call, result);
    if (options.failFast === true && !result.success) this.stop({ cause: 'fail_fast' });
  }

  /** Whatever broke did so before anything ran: what runs is caught where it runs. */
  #giveUp(error: unknown): void {
    this.#log(error);
    const { calls } = this.#parts;
    for (let index = 0; index < calls.length; index++) {
      this.#take(index, this.#neverRun(calls[index], index, error));
    }
    this.#end();
  }

  #end(): void {
    this.#starter.end();
    if (this.#parts.recorder?.isSettled(() => this.#hand()) !== false) this.#hand();
  }

  #hand(): void {
    this.#unlisten?.();
    this.#onEnd(this);
    this.#deliver?.(this.#results.map((result, index) => result ?? this.#lost(index)));
  }

  #neverRun(call: unknown, index: number, error: unknown): ToolResult {
    const named = nameOf(call, index);
    const { stop } = this.#parts.stopping;
    if (stop !== undefined) return stoppedBefore(named, stop);
    return notRun(named, 'execution_failed', `Nothing was run: ${reasonOf(error)}`);
  }

  // Neither can happen while every path of `#runOne` answers; an answer is owed all the same.
  #broken(index: number, error: unknown): ToolResult {
    this.#log(error);
    return this.#lost(index);
  }

  #lost(index: number): ToolResult {
    const call = nameOf(this.#parts.calls[index], index);
    return failure(call, 'outcome_unknown', 'The call ended without an answer.', 'maybe');
  }

  #log(error: unknown): void {
    const { id, settings } = this.#parts.scope;
    settings.logger.error({ batch: id, stack: stackOf(error) }, 'a batch broke');
  }
}

export function cancelled(reason: unknown): Stop {
  return typeof reason === 'string' ? { cause: 'cancelled', reason } : { cause: 'cancelled' };
}

function nameOf(call: unknown, index: number): { readonly id: string; readonly name: string } {
  const { id, name } = (typeof call === 'object' && call !== null ? call : {}) as Partial<ToolCall>;
  return {
    id: typeof id === 'string' && id !== '' ? id : `call_${index}`,
    name: typeof name === 'string' ? name : 'unknown',
  };
}
