import type { ToolCall, ToolResult } from '../../contract/call.js';
import type { FileIntent } from '../../contract/files.js';
import type { Acceptance, CallKey, CallRecord, Journal, JournalNote } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { callKey } from '../../journal/records/call-key.js';
import { reasonOf } from '../answer/results.js';
import type { BatchScope } from '../call/batch-scope.js';
import { toCallEntry } from '../call/calls.js';
import type { EvaluatedCall, ReadyCall } from '../call/evaluated-call.js';
import { confinementOf } from '../call/program-confinement.js';
import type { EngineSettings } from '../call/settings.js';
import { awaitDeliveries } from './attach.js';
import { recordReads } from './conversation-memories.js';
import { findEarlier } from './find-earlier.js';
import { noteIntent } from './noted-change.js';
import { Patience } from './patience.js';
import { type UnrecordedResults, unrecordedResultsOf } from './unrecorded-results.js';

interface Stoppable {
  /** Resolves when the batch is told to stop. */
  readonly stopped: Promise<void>;
}

/** Takes what the journal answers to a claim later: one of the two is called, once, and neither throws. */
export interface ClaimTaker {
  /** @param mine false: another process has taken the call. */
  claimed(index: number, ready: ReadyCall, mine: boolean): void;
  claimFailed(index: number, ready: ReadyCall, error: unknown): void;
}

/**
 * The place of a batch in the journal: what is written when, and what is waited for. A journal that fails, or does not
 * answer within the default timeout, starts nothing more; a result that it does not take is kept and written later.
 */
export class Recorder {
  readonly #journal: Journal;
  readonly #settings: EngineSettings;
  readonly #scope: BatchScope;
  readonly #batchId: string;
  readonly #batch: Stoppable;
  readonly #patience: Patience;
  /** The journal's answers for the calls, where it has answered. */
  #answers: readonly Acceptance[] = NO_ANSWERS;
  /** The batch's own record, while it is not on disk yet and the batch goes on all the same. */
  #accepting: Promise<unknown> | undefined;
  #isAccepted = false;
  /** Whether the journal was asked to take the batch at all. */
  #isAsked = false;
  /** Calls that do more than read, where the journal answers later. */
  #claimed: Set<number> | undefined;
  /** The last result of one of them, which may not be on disk yet. */
  #owed: Promise<unknown> | undefined;
  /** The first write that failed. What comes later could not be accounted for: it is not started. */
  #broken: { readonly error: unknown } | undefined;

  constructor(journal: Journal, scope: BatchScope, batch: Stoppable) {
    this.#journal = journal;
    this.#settings = scope.settings;
    this.#scope = scope;
    this.#batchId = scope.id;
    this.#batch = batch;
    this.#patience = new Patience(scope.settings.timeouts.default.ms);
  }

  get unrecorded(): UnrecordedResults {
    return unrecordedResultsOf(this.#journal);
  }

  key(index: number): CallKey {
    const answer = this.#answers[index];
    // The journal's own text of it is found faster than one that is put together again.
    return answer?.kind === 'fresh' ? answer.key : callKey(this.#batchId, index);
  }

  /** What earlier deliveries of these calls have come to, where a batch cannot be recorded. */
  findEarlier(evaluated: readonly EvaluatedCall[]): Promise<readonly (Acceptance | undefined)[]> {
    return findEarlier(evaluated, this.#scope, {
      journal: this.#journal,
      patiently: (work) => this.patiently(work),
    });
  }

  /** What becomes of calls that are being run elsewhere. Undefined: there are none. */
  awaitOthers(answers: readonly Acceptance[]): Promise<readonly Acceptance[]> | undefined {
    const { isWorkerAlive, clock, timeouts } = this.#settings;
    const world = { isWorkerAlive, clock, journal: this.#journal };
    return awaitDeliveries(answers, world, this.#batch, timeouts.default.ms);
  }

  /** Goes on with a batch that is recorded. */
  adopt(calls: readonly CallRecord[]): void {
    this.#isAccepted = true;
    this.#answers = calls.map(({ key }) => ({ kind: 'fresh', key }));
  }

  /**
   * Records the batch whole. A promise where the answer matters: calls may be known already, or the journal has not
   * yet proved that it can be written. Else the first claim carries the record to the disk, and waits for it.
   * @throws what the journal throws; a promise rejects with it.
   */
  accept(
    attach: boolean,
    evaluated: readonly EvaluatedCall[],
  ): readonly Acceptance[] | Promise<readonly Acceptance[]> {
    this.#isAsked = true;
    const accepted = this.#journal.accept(this.#entry(attach, evaluated));
    if (!(accepted instanceof Promise)) {
      this.#isAccepted = true;
      this.#answers = accepted;
      return accepted;
    }
    if (attach || !proven.has(this.#journal)) return this.#acceptSlowly(accepted);
    this.#isAccepted = true;
    this.#acceptBeside(accepted);
    return NO_ANSWERS;
  }

  async #acceptSlowly(accepted: Promise<readonly Acceptance[]>): Promise<readonly Acceptance[]> {
    const answers = await this.patiently(accepted);
    proven.add(this.#journal);
    this.#isAccepted = true;
    return answers;
  }

  #acceptBeside(accepted: Promise<unknown>): void {
    this.#accepting = accepted;
    const end = (): void => {
      this.#accepting = undefined;
    };
    this.#patience.waitFor(accepted, end, (error) => {
      end();
      this.#isAccepted = false;
      this.#complain(error, 'a batch could not be recorded', 'all');
    });
  }

  #entry(attach: boolean, evaluated: readonly EvaluatedCall[]): Parameters<Journal['accept']>[0] {
    const { conversation, message, origin } = this.#scope;
    const entry = {
      id: this.#batchId,
      conversation,
      attach,
      at: this.#settings.clock.now(),
      worker: this.#settings.worker,
      calls: evaluated.map(toCallEntry),
    };
    // Spread where they say something only: a spread costs more than the rest of the entry.
    const told = message === undefined ? entry : { ...entry, message };
    return origin === undefined ? told : { ...told, origin };
  }

  /** From now on the calls that need approval wait for it, whatever becomes of this process. */
  async defer(): Promise<void> {
    const decision = { kind: 'wait', at: this.#settings.clock.now(), data: { why: 'approval' } } as const;
    await this.patiently(Promise.resolve(this.#journal.decide(this.#batchId, decision)));
  }

  /** Ends the wait: true for one of all who try. From now on the batch lives and dies with this process. */
  async takeOver(): Promise<boolean> {
    const data = { why: 'approval', worker: { ...this.#settings.worker } };
    const decision = { kind: 'resume', at: this.#settings.clock.now(), data } as const;
    return this.patiently(Promise.resolve(this.#journal.decide(this.#batchId, decision)));
  }

  /**
   * The fence: true for one of all who try, once everything before it is on disk. A call that only reads needs none:
   * running it twice changes nothing; it waits for the results of those that do more, as every call does (D087).
   * One that declares nothing gets one: whether it can be repeated is not known.
   * @returns undefined where the journal answers later: then `taker` is told.
   * @throws ToolError `journal_unavailable`
   */
  claim(index: number, ready: ReadyCall, taker: ClaimTaker): boolean | undefined {
    this.#requireWhole();
    if (ready.onlyReads && ready.declared.length > 0) return this.#claimNothing(index, ready, taker);
    let claimed: boolean | Promise<boolean>;
    // With the claim: until the next note nothing of it can have happened.
    if (confinementOf(ready.tool, this.#settings) !== undefined) {
      this.note(index, ready.call.id, 'process', { preparing: true });
    }
    try {
      claimed = this.#journal.claim(this.key(index), this.#settings.worker, this.#settings.clock.now());
    } catch (error) {
      this.#broken ??= { error };
      throw error;
    }
    if (!(claimed instanceof Promise)) return claimed;
    this.#claimed ??= new Set();
    this.#claimed.add(index);
    const failed = (error: unknown): void => {
      this.#broken ??= { error };
      taker.claimFailed(index, ready, error);
    };
    const done = (mine: boolean): void => {
      // As a rule it is there with the claim.
      if (this.#accepting !== undefined) this.#patience.waitFor(this.#accepting, () => done(mine), failed);
      else if (this.#broken !== undefined) failed(this.#broken.error);
      else taker.claimed(index, ready, mine);
    };
    this.#patience.waitFor(claimed, done, failed);
    return undefined;
  }

  #claimNothing(index: number, ready: ReadyCall, taker: ClaimTaker): true | undefined {
    if (this.#owed === undefined) return true;
    const failed = (error: unknown): void => taker.claimFailed(index, ready, this.#broken?.error ?? error);
    const done = (): void => {
      if (this.#broken !== undefined) failed(this.#broken.error);
      else taker.claimed(index, ready, true);
    };
    this.#patience.waitFor(this.#owed, done, failed);
    return undefined;
  }

  #requireWhole(): void {
    if (this.#broken !== undefined) throw this.#broken.error;
  }

  note(index: number, callId: string, kind: JournalNote['kind'], data: JournalNote['data']): void {
    const failed = (error: unknown): void => this.#complain(error, 'a note could not be recorded', callId);
    try {
      const written = this.#journal.note(this.key(index), { kind, data, at: this.#settings.clock.now() });
      if (written instanceof Promise) written.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** The same, and resolves when it is on disk. */
  async noted(index: number, kind: JournalNote['kind'], data: JournalNote['data']): Promise<void> {
    const note = { kind, data, at: this.#settings.clock.now() };
    await this.patiently(Promise.resolve(this.#journal.note(this.key(index), note)));
  }

  /** Resolves when it is on disk what a call will replace, with what is there now: before that, nothing is replaced. */
  async intend(index: number, intent: FileIntent): Promise<void> {
    this.#requireWhole();
    const { clock } = this.#settings;
    try {
      await this.patiently(noteIntent(this.#journal, this.key(index), intent, clock.now()));
    } catch (error) {
      this.#broken ??= { error };
      throw error;
    }
  }

  /**
   * Records the answer of a call. True when it is on disk; false when it is not: then it is kept, and written as soon
   * as the journal works again. Never throws.
   * @param later undefined: the call was answered before, and this is what it came to after that
   * @returns undefined where that shows later: then `later` is told.
   */
  finish(
    index: number,
    call: Pick<ToolCall, 'id' | 'name'>,
    result: ToolResult,
    later: ((isOnDisk: boolean) => void) | undefined,
  ): boolean | undefined {
    if (!this.#isAccepted) {
      // A batch that was refused with an error may be in the journal all the same: then its answer has to follow.
      if (this.#isAsked) this.unrecorded.add(this.key(index), result, this.#settings.clock.now());
      return false;
    }
    recordReads(this.#scope.memory);
    try {
      const written = this.#journal.finish(this.key(index), result, this.#settings.clock.now());
      if (!(written instanceof Promise)) return true;
      this.#patience.waitFor(
        written,
        () => later?.(true),
        (error) => {
          const isOnDisk = this.#keep(index, call, result, error, later === undefined);
          later?.(isOnDisk);
        },
      );
      if (this.#claimed?.has(index) === true) this.#owed = written;
      return undefined;
    } catch (error) {
      return this.#keep(index, call, result, error, later === undefined);
    }
  }

  #keep(
    index: number,
    call: Pick<ToolCall, 'id'>,
    result: ToolResult,
    error: unknown,
    isLate: boolean,
  ): false {
    if (!this.#isAccepted) return false;
    if (isLate) this.#mention(error, 'what came of a call after its answer could not be recorded', call.id);
    else this.#complain(error, 'a result could not be recorded', call.id);
    this.unrecorded.add(this.key(index), result, this.#settings.clock.now());
    return false;
  }

  /** Waits for the journal, but not for ever. @throws ToolError `journal_unavailable` when it does not answer. */
  patiently<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => this.#patience.waitFor(work, resolve, reject));
  }

  /** The batch was told to stop. */
  hurry(): void {
    this.#patience.hurry();
  }

  // A result that is known stays true when it cannot be recorded: the log says so, and the call keeps its answer.
  #complain(error: unknown, what: string, callId: string): void {
    this.#mention(error, what, callId, { code: 'journal_unavailable' });
  }

  // Without the code the default logger is silent: a tool that goes on after the executor was closed is no news of the journal.
  #mention(error: unknown, what: string, callId: string, code: JsonObject = {}): void {
    this.#broken ??= { error };
    proven.delete(this.#journal);
    this.#settings.logger.error({ batch: this.#batchId, callId, ...code, why: reasonOf(error) }, what);
  }
}

const NO_ANSWERS: readonly Acceptance[] = [];

/** Journals whose last write worked. */
const proven = new WeakSet<Journal>();
