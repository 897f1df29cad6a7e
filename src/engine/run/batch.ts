import { abortable } from '../../base/abortable.js';
import type { ToolCall } from '../../contract/call.js';
import type { RunOptions } from '../../contract/executor.js';
import type { Acceptance, CallRecord } from '../../contract/journal.js';
import type { ToolResult } from '../../contract/result.js';
import { isToolError } from '../../errors/tool-error.js';
import { approverOf, BatchApproval } from '../approve/batch-approval.js';
import { asRecorded, isUnanswered, putOff, takenByAnother } from '../approve/deferred-calls.js';
import { review } from '../approve/review.js';
import { conflicts } from '../effects/conflicts.js';
import { judgeBatch, replanner } from '../plan/judge-batch.js';
import type { JudgedCall, ReadyCall } from '../plan/judged-call.js';
import { toPlannedCall } from '../plan/to-plan.js';
import { attachToRecord } from '../record/attach.js';
import { cleanRefusal } from '../record/clean-refusal.js';
import { reasonOf } from '../record/reason-of.js';
import { Recorder } from '../record/recorder.js';
import { refuseReady } from '../record/refuse-ready.js';
import { CANCELLED_MESSAGE, failure, notRun } from '../record/results.js';
import { takeCapacity } from '../record/take-capacity.js';
import type { BatchScope } from './batch-scope.js';
import { CallStarter, stoppedBefore } from './call-starter.js';
import { dryRunResult } from './dry-run-result.js';
import { onAbort } from './on-abort.js';
import { stackOf } from './outcome.js';
import { schedule, type WaitsFor } from './schedule.js';
import type { Stop } from './stop.js';

const PARALLEL_LIMIT = 8;

/**
 * One batch from its calls to its results: plan, review, record, approve, run. Every call ends in `#complete`, once.
 * Steps answer at once where nothing has to be waited for: most batches never leave the turn but for their tools.
 */
export class Batch {
  readonly #calls: readonly ToolCall[];
  readonly #scope: BatchScope;
  readonly #options: RunOptions;
  readonly #onEnd: (batch: Batch) => void;
  readonly #recorder: Recorder | undefined;
  readonly #starter: CallStarter;
  readonly #results: (ToolResult | undefined)[];
  #judged: JudgedCall[] = [];
  #abort: AbortController | undefined;
  #stop: Stop | undefined;
  #ending: Promise<ToolResult[]> | undefined;
  /** Made when somebody has to be asked. */
  #approval: BatchApproval | undefined;

  constructor(
    calls: readonly ToolCall[],
    scope: BatchScope,
    options: RunOptions,
    onEnd: (batch: Batch) => void,
  ) {
    this.#calls = calls;
    this.#onEnd = onEnd;
    this.#scope = scope;
    this.#options = options;
    this.#results = new Array<ToolResult | undefined>(calls.length).fill(undefined);
    const { journal, mode } = scope.settings;
    // What is not meant to happen is not recorded: it would answer a later delivery that is.
    const recorded = journal !== null && !scope.dryRun && mode === 'enabled';
    this.#recorder = recorded ? new Recorder(journal, scope) : undefined;
    this.#starter = new CallStarter(scope, this.#recorder, options.conversation);
  }

  /** Ends what runs and answers what is left. */
  stop(stop: Stop): void {
    if (this.#stop !== undefined) return;
    this.#stop = stop;
    this.#abort?.abort(new Error(CANCELLED_MESSAGE));
    this.#starter.stop(stop);
  }

  /** Starts the batch, the first time. Never rejects. */
  results(): Promise<ToolResult[]> {
    this.#ending ??= this.#start();
    return this.#ending;
  }

  async #start(): Promise<ToolResult[]> {
    const { signal } = this.#options;
    const unlisten = signal === undefined ? undefined : this.#listen(signal);
    try {
      const prepared = this.#prepare();
      if (prepared !== undefined) await prepared;
      const { parallel = false, concurrency = parallel ? PARALLEL_LIMIT : 1 } = this.#options;
      if (concurrency > 1) await this.#runTogether(concurrency, parallel);
      else await this.#runInOrder();
      const written = this.#recorder?.settled();
      if (written !== undefined) await written;
    } catch (error) {
      this.#log(error);
      // Whatever broke did so before anything ran: what runs is caught where it runs.
      for (const [index, call] of this.#calls.entries())
        this.#complete(index, this.#neverRun(call, index, error));
    } finally {
      unlisten?.();
      this.#onEnd(this);
    }
    return this.#results.map((result, index) => result ?? this.#lost(index));
  }

  #listen(signal: AbortSignal): () => void {
    const stop = (): void => this.stop(cancelled(signal.reason));
    if (!signal.aborted) return onAbort(signal, stop);
    stop();
    return () => {};
  }

  /** Plans, reviews, records, asks. Undefined: nothing had to be waited for, which spares a turn and its promises. */
  #prepare(): Promise<void> | undefined {
    const { settings } = this.#scope;
    const judged = judgeBatch(this.#calls, settings);
    if (judged instanceof Promise || settings.reviewers.length > 0) return this.#prepareSlowly(judged);
    this.#judged = judged;
    return this.#admit();
  }

  async #prepareSlowly(judged: JudgedCall[] | Promise<JudgedCall[]>): Promise<void> {
    this.#judged = judged instanceof Promise ? await this.#inTime(judged) : judged;
    if (this.#scope.settings.reviewers.length > 0) await this.#review();
    await this.#admit();
  }

  #admit(): Promise<void> | undefined {
    const { observer } = this.#scope;
    if (observer !== undefined) for (const call of this.#judged) observer.planned(toPlannedCall(call));
    const recorder = this.#recorder;
    if (recorder === undefined) return this.#ask();
    if (this.#scope.deferred !== undefined) return this.#goOn(recorder, this.#scope.deferred);
    const settled = this.#scope.recovery.ensure();
    if (settled !== undefined) return this.#admitAfter(settled, recorder);
    const recorded = this.#record(recorder);
    return recorded === undefined ? this.#ask() : recorded.then(() => this.#ask());
  }

  async #admitAfter(settled: Promise<void>, recorder: Recorder): Promise<void> {
    try {
      await settled;
    } catch (error) {
      this.#unrecorded(error);
      return this.#ask();
    }
    await this.#record(recorder);
    return this.#ask();
  }

  /** A batch that was put off. What has its answer keeps it. */
  async #goOn(recorder: Recorder, deferred: readonly CallRecord[]): Promise<void> {
    recorder.adopt(deferred);
    const { id } = this.#scope;
    this.#judged = this.#judged.map((call, index) => asRecorded(call, deferred[index], id));
    const before = this.#judged;
    await this.#ask();
    // Who has left the question open has not decided.
    const isOpen = this.#approval?.isPutOff === true || this.#stop !== undefined;
    if (isOpen || this.#judged.some(isUnanswered)) this.#judged = putOff(before, id);
    else await this.#takeOver(recorder, before);
  }

  async #takeOver(recorder: Recorder, before: readonly JudgedCall[]): Promise<void> {
    try {
      if (await recorder.takeOver()) this.#approval?.note();
      else this.#judged = before.map(takenByAnother);
    } catch (error) {
      // Whether it was taken over is not known, and nothing may be recorded for it: whoever has it will.
      this.#log(error);
      this.#judged = putOff(before, this.#scope.id);
    }
  }

  #ask(): Promise<void> | undefined {
    const waiting = this.#waitingForApproval();
    return waiting.length > 0 ? this.#approve(waiting) : undefined;
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
      return await abortable(() => abortable(() => judged, this.#signal()), late.signal);
    } finally {
      forget();
    }
  }

  async #review(): Promise<void> {
    const { settings } = this.#scope;
    const signal = this.#signal();
    this.#judged = await Promise.all(
      this.#judged.map((call) =>
        call.kind === 'ready' && this.#stop === undefined
          ? review(call, settings.reviewers, replanner(settings), signal)
          : call,
      ),
    );
  }

  #record(recorder: Recorder): Promise<void> | undefined {
    const attach = this.#options.conversation !== undefined;
    try {
      const accepted = recorder.accept(attach, this.#judged);
      if (accepted instanceof Promise) {
        return accepted.then(
          (answers) => this.#attach(attach, answers),
          (error: unknown) => this.#unrecorded(error),
        );
      }
      this.#attach(attach, accepted);
    } catch (error) {
      this.#unrecorded(error);
    }
    return undefined;
  }

  #attach(attach: boolean, answers: readonly Acceptance[]): void {
    if (attach) this.#judged = this.#judged.map((call, index) => attachToRecord(call, answers[index]));
  }

  // Nothing runs that could not be accounted for.
  #unrecorded(error: unknown): void {
    const why = isToolError(error) ? error.message : String(error);
    this.#scope.settings.logger.error({ batch: this.#scope.id, why }, 'journal unavailable');
    this.#judged = this.#judged.map((call) =>
      call.kind === 'ready' ? refuseReady(call, 'journal_unavailable', `Nothing was run: ${why}`) : call,
    );
  }

  #waitingForApproval(): readonly number[] {
    if (approverOf({ options: this.#options, scope: this.#scope }) === null || this.#stop !== undefined)
      return NOBODY;
    let waiting: number[] | undefined;
    for (const [index, call] of this.#judged.entries()) {
      if (call.kind !== 'ready' || !call.needsApproval || !this.#runsForReal(call)) continue;
      waiting ??= [];
      waiting.push(index);
    }
    return waiting ?? NOBODY;
  }

  async #approve(waiting: readonly number[]): Promise<void> {
    const agreed = (index: number, argsHash: string): void => this.#starter.approve(index, argsHash);
    this.#approval = new BatchApproval({
      scope: this.#scope,
      options: this.#options,
      recorder: this.#recorder,
      agreed,
    });
    try {
      this.#judged = await this.#approval.ask(this.#judged, waiting, this.#signal());
    } catch (error) {
      this.#unrecorded(error);
    }
  }

  async #runInOrder(): Promise<void> {
    for (let index = 0; index < this.#judged.length; index++) {
      try {
        const result = this.#runOne(index);
        this.#complete(index, result instanceof Promise ? await result : result);
      } catch (error) {
        this.#complete(index, this.#broken(index, error));
      }
    }
  }

  #runTogether(limit: number, parallel: boolean): Promise<void> {
    const waitsFor: WaitsFor = (later, earlier) => this.#waitsFor(later, earlier);
    return schedule(this.#judged.length, limit, parallel ? waitsFor : undefined, async (index) => {
      try {
        this.#complete(index, await this.#runOne(index));
      } catch (error) {
        this.#complete(index, this.#broken(index, error));
      }
    });
  }

  #waitsFor(later: number, earlier: number): boolean {
    return conflicts(
      this.#judged[later]?.effects ?? [],
      this.#judged[earlier]?.effects ?? [],
      this.#scope.settings.covers,
    );
  }

  #runOne(index: number): ToolResult | Promise<ToolResult> {
    const judged = this.#judged[index];
    if (judged === undefined) return this.#lost(index);
    if (judged.kind === 'resolved') return judged.result;
    if (this.#stop === undefined && !this.#runsForReal(judged)) return dryRunResult(judged);
    return this.#starter.start(index, judged);
  }

  #complete(index: number, answer: ToolResult): void {
    if (this.#results[index] !== undefined) return;
    const judged = this.#judged[index];
    // Read from the journal: it is there.
    const recorded = judged?.kind === 'resolved' && judged.recorded === true;
    const { settings } = this.#scope;
    const refused = !answer.success && answer.error.details?.executed === 'no' && !recorded;
    const result = takeCapacity(refused ? cleanRefusal(answer, settings) : answer, this.#scope);
    this.#results[index] = result;
    const call = judged?.call ?? { id: result.callId, name: result.toolName };
    // What another process has taken is that one's to answer.
    const ours = !recorded && !this.#starter.isTaken(index);
    if (ours && judged !== undefined) this.#recorder?.finish(index, call, result);
    this.#scope.observer?.completed(call, result);
    if (this.#options.failFast === true && !result.success) this.stop({ cause: 'fail_fast' });
  }

  // A call that only looks runs in a dry run as well.
  #runsForReal({ onlyReads }: ReadyCall): boolean {
    return !this.#scope.dryRun || onlyReads;
  }

  #signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#stop !== undefined) this.#abort.abort(new Error(CANCELLED_MESSAGE));
    return this.#abort.signal;
  }

  #neverRun(call: unknown, index: number, error: unknown): ToolResult {
    const named = nameOf(call, index);
    if (this.#stop !== undefined) return stoppedBefore(named, this.#stop);
    return notRun(named, 'execution_failed', `Nothing was run: ${reasonOf(error)}`);
  }

  // Neither can happen while every path of `#runOne` answers; an answer is owed all the same.
  #broken(index: number, error: unknown): ToolResult {
    this.#log(error);
    return this.#lost(index);
  }

  #lost(index: number): ToolResult {
    const call = nameOf(this.#calls[index], index);
    return failure(call, 'outcome_unknown', 'The call ended without an answer.', 'maybe');
  }

  #log(error: unknown): void {
    this.#scope.settings.logger.error({ batch: this.#scope.id, stack: stackOf(error) }, 'a batch broke');
  }
}

const NOBODY: readonly number[] = [];

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
