import { abortable } from '../../base/abortable.js';
import type { Acceptance, CallRecord } from '../../contract/journal.js';
import { isToolError } from '../../errors/tool-error.js';
import { approverOf, BatchApproval } from '../approve/batch-approval.js';
import { asRecorded, isUnanswered, putOff, takenByAnother } from '../approve/deferred-calls.js';
import { review } from '../approve/review.js';
import { judgeBatch, replanner } from '../plan/judge-batch.js';
import type { JudgedCall, ReadyCall } from '../plan/judged-call.js';
import { toPlannedCall } from '../plan/to-plan.js';
import { attachToRecord } from '../record/attach.js';
import type { Recorder } from '../record/recorder.js';
import { refuseReady } from '../record/refuse-ready.js';
import { attaches } from '../run-options.js';
import type { BatchParts } from './batch-parts.js';
import { stackOf } from './outcome.js';

/** Told which arguments of a call were agreed to, by their hash. */
export interface Agreements {
  approve(index: number, argsHash: string): void;
}

/**
 * What happens to a batch before anything of it runs: plan, review, record, approve. Steps answer at once where
 * nothing has to be waited for: most batches never leave the turn but for their tools.
 */
export class Admission {
  readonly #parts: BatchParts;
  readonly #agreements: Agreements;
  #judged: JudgedCall[] = NOTHING_JUDGED;
  /** Made when somebody has to be asked. */
  #approval: BatchApproval | undefined;

  constructor(parts: BatchParts, agreements: Agreements) {
    this.#parts = parts;
    this.#agreements = agreements;
  }

  /** What is known of the calls so far. */
  get judged(): readonly JudgedCall[] {
    return this.#judged;
  }

  /** Undefined: nothing had to be waited for, which spares a turn and its promises. */
  admit(): Promise<void> | undefined {
    const { settings } = this.#parts.scope;
    const judged = judgeBatch(this.#parts.calls, settings);
    if (judged instanceof Promise || settings.reviewers.length > 0) return this.#admitSlowly(judged);
    this.#judged = judged;
    return this.#admitJudged();
  }

  async #admitSlowly(judged: JudgedCall[] | Promise<JudgedCall[]>): Promise<void> {
    this.#judged = judged instanceof Promise ? await this.#inTime(judged) : judged;
    if (this.#parts.scope.settings.reviewers.length > 0) await this.#review();
    await this.#admitJudged();
  }

  #admitJudged(): Promise<void> | undefined {
    const { scope, recorder } = this.#parts;
    const { observer } = scope;
    if (observer !== undefined) for (const call of this.#judged) observer.planned(toPlannedCall(call));
    if (recorder === undefined) return this.#ask();
    if (scope.deferred !== undefined) return this.#goOn(recorder, scope.deferred);
    const settled = scope.recovery.ensure();
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
    const { id } = this.#parts.scope;
    this.#judged = this.#judged.map((call, index) => asRecorded(call, deferred[index], id));
    const before = this.#judged;
    await this.#ask();
    // Who has left the question open has not decided.
    const isOpen = this.#approval?.isPutOff === true || this.#isStopped;
    if (isOpen || this.#judged.some(isUnanswered)) this.#judged = putOff(before, id);
    else await this.#takeOver(recorder, before);
  }

  async #takeOver(recorder: Recorder, before: readonly JudgedCall[]): Promise<void> {
    const { id, settings } = this.#parts.scope;
    try {
      if (await recorder.takeOver()) this.#approval?.note();
      else this.#judged = before.map(takenByAnother);
    } catch (error) {
      // Whether it was taken over is not known, and nothing may be recorded for it: whoever has it will.
      settings.logger.error({ batch: id, stack: stackOf(error) }, 'a batch broke');
      this.#judged = putOff(before, id);
    }
  }

  // A schema of the tool's own may never answer; neither the batch nor its cancellation may wait for that (D107).
  async #inTime(judged: Promise<JudgedCall[]>): Promise<JudgedCall[]> {
    const { scope, stopping } = this.#parts;
    const { clock, timeouts } = scope.settings;
    const { ms } = timeouts.default;
    const late = new AbortController();
    const forget = clock.after(ms, () =>
      late.abort(new Error(`the arguments could not be checked within ${ms}ms`)),
    );
    try {
      return await abortable(() => abortable(() => judged, stopping.signal), late.signal);
    } finally {
      forget();
    }
  }

  async #review(): Promise<void> {
    const { scope, stopping } = this.#parts;
    const { settings } = scope;
    const { signal } = stopping;
    this.#judged = await Promise.all(
      this.#judged.map((call) =>
        call.kind === 'ready' && !this.#isStopped
          ? review(call, settings.reviewers, replanner(settings), signal)
          : call,
      ),
    );
  }

  #record(recorder: Recorder): Promise<void> | undefined {
    const { options } = this.#parts;
    if (options.again === true && options.conversation !== undefined) return this.#recordAnew(recorder);
    return this.#recordAs(recorder, attaches(options));
  }

  /** What waits holds its conversation also against running anew: then it is answered like any other delivery. */
  async #recordAnew(recorder: Recorder): Promise<void> {
    const { conversation, settings } = this.#parts.scope;
    try {
      const waiting = await settings.journal?.batches({ conversation, waiting: true, limit: 1 });
      await this.#recordAs(recorder, waiting !== undefined && waiting.length > 0);
    } catch (error) {
      this.#unrecorded(error);
    }
  }

  #recordAs(recorder: Recorder, attach: boolean): Promise<void> | undefined {
    try {
      const accepted = recorder.accept(attach, this.#judged);
      if (accepted instanceof Promise) {
        return accepted.then(
          (answers) => this.#attach(recorder, attach, answers),
          (error: unknown) => this.#unrecorded(error),
        );
      }
      return this.#attach(recorder, attach, accepted);
    } catch (error) {
      this.#unrecorded(error);
    }
    return undefined;
  }

  #attach(recorder: Recorder, attach: boolean, answers: readonly Acceptance[]): Promise<void> | undefined {
    if (!attach) return undefined;
    const others = recorder.awaitOthers(answers, this.#parts.stopping.signal);
    if (others !== undefined) return others.then((settled) => this.#attachAll(settled));
    this.#attachAll(answers);
    return undefined;
  }

  #attachAll(answers: readonly Acceptance[]): void {
    this.#judged = this.#judged.map((call, index) => attachToRecord(call, answers[index]));
  }

  // Nothing runs that could not be accounted for.
  #unrecorded(error: unknown): void {
    const { id, settings } = this.#parts.scope;
    const why = isToolError(error) ? error.message : String(error);
    settings.logger.error({ batch: id, why }, 'journal unavailable');
    this.#judged = this.#judged.map((call) =>
      call.kind === 'ready' ? refuseReady(call, 'journal_unavailable', `Nothing was run: ${why}`) : call,
    );
  }

  #ask(): Promise<void> | undefined {
    const waiting = this.#waitingForApproval();
    return waiting.length > 0 ? this.#approve(waiting) : undefined;
  }

  #waitingForApproval(): readonly number[] {
    if (approverOf(this.#parts) === null || this.#isStopped) return NOBODY;
    let waiting: number[] | undefined;
    for (let index = 0; index < this.#judged.length; index++) {
      const call = this.#judged[index];
      if (call?.kind !== 'ready' || !call.needsApproval || !runsForReal(call, this.#parts)) continue;
      waiting ??= [];
      waiting.push(index);
    }
    return waiting ?? NOBODY;
  }

  async #approve(waiting: readonly number[]): Promise<void> {
    const { scope, options, recorder, stopping } = this.#parts;
    const agreed = (index: number, argsHash: string): void => this.#agreements.approve(index, argsHash);
    this.#approval = new BatchApproval({ scope, options, recorder, agreed });
    try {
      this.#judged = await this.#approval.ask(this.#judged, waiting, stopping.signal);
    } catch (error) {
      this.#unrecorded(error);
    }
  }

  get #isStopped(): boolean {
    return this.#parts.stopping.stop !== undefined;
  }
}

const NOBODY: readonly number[] = [];
/** Never changed: what is judged comes as an array of its own. */
const NOTHING_JUDGED: JudgedCall[] = [];

/** A call that only looks runs in a dry run as well. */
export function runsForReal({ onlyReads }: ReadyCall, { scope }: Pick<BatchParts, 'scope'>): boolean {
  return !scope.dryRun || onlyReads;
}
