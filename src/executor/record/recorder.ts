import type { Awaitable, ToolResult } from '../../contract/call.js';
import type { RunOptions } from '../../contract/executor.js';
import type { FileIntent } from '../../contract/files.js';
import type {
  Acceptance,
  CallKey,
  CallRecord,
  Claimant,
  Journal,
  JournalNote,
} from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { callKey } from '../../journal/records/call-key.js';
import { refuseUnrecorded, UNRECORDED } from '../answer/refuse-ready.js';
import { type NamedCall, notRun, reasonOf } from '../answer/results.js';
import type { BatchScope } from '../call/batch-scope.js';
import { toCallEntry } from '../call/calls.js';
import { type EvaluatedCall, needsNoClaim, type ReadyCall } from '../call/evaluated-call.js';
import { confinementOf } from '../call/program-confinement.js';
import { attaches } from '../call/run-options.js';
import type { RecordSettings } from '../call/settings.js';
import { attachToRecord, type CallRecovery } from './attach.js';
import { recordReads } from './conversation-memories.js';
import { findAnswered, isHeld } from './find-earlier.js';
import { JournalDeadline } from './journal-deadline.js';
import { noteIntent } from './noted-change.js';
import { OtherAnswers, unknownElsewhere } from './other-answers.js';
import { placedBatch } from './placement.js';
import { SharedOrder } from './shared-order.js';
import { type UnrecordedResults, unrecordedResultsOf } from './unrecorded-results.js';

/** The batch of a recorder, as part of its conversation's queue. */
export interface RecordedBatch {
  /** Resolves when the batch is stopped. */
  readonly stopped: Promise<void>;
  /** True if the batch is in the queue of a conversation in which other processes may have calls. */
  readonly isOrdered: boolean;
  /** Resolves when it is the batch's turn to be recorded. */
  arrival(): Promise<void>;
  /** Called once the journal has been asked to record the batch. */
  placed(): void;
  readonly recovery: CallRecovery;
}

/**
 * Writes one batch to the journal.
 *
 * 1. A whole batch is accepted before any of its calls is claimed, and a call is claimed before it has an
 *   effect.
 * 2. A call that was delivered before keeps its first answer, even while nothing new can be recorded.
 * 3. No wait is longer than the default timeout. After the first failed write, no further call is started.
 * 4. An answer that cannot be recorded stays true: it is kept, and written when the journal works again.
 * 5. Requests to the journal in one turn of the event loop share a write: the acceptance of a batch with its
 *   first claim, and the answer of a call with the next claim.
 */
export class Recorder {
  readonly #journal: Journal;
  readonly #settings: RecordSettings;
  readonly #scope: BatchScope;
  readonly #options: RunOptions;
  readonly #batch: RecordedBatch;
  /** The calls of other processes that come first. Undefined: there are none. */
  order: SharedOrder | undefined;
  readonly deadline: JournalDeadline;
  /** One entry for each call; empty until the journal has answered. */
  #acceptances: readonly Acceptance[] = [];
  /** The write that accepts the batch, if the first claim must wait for it. Never rejects. */
  #accepting: Promise<unknown> | undefined;
  /**
   * `asked`: the journal may have the batch; `yes`: it has the batch, or will have it before the first claim.
   */
  #isAccepted: 'no' | 'asked' | 'yes' = 'no';
  /** The calls that this process has claimed. */
  #claimed: Set<number> | undefined;
  readonly #unrecorded: UnrecordedResults;
  /** The write of the last answer of a claimed call. It may not be on disk yet. */
  #owed: Promise<unknown> | undefined;
  /** The first write that failed. */
  #broken: { readonly error: unknown } | undefined;

  constructor(journal: Journal, scope: BatchScope, options: RunOptions, batch: RecordedBatch) {
    this.#journal = journal;
    this.#unrecorded = unrecordedResultsOf(journal);
    this.#settings = scope.settings;
    this.#scope = scope;
    this.#options = options;
    this.#batch = batch;
    this.deadline = new JournalDeadline(scope.settings.timeouts.default.ms);
  }

  /** The answers of calls that other processes run. */
  get others(): OtherAnswers {
    return new OtherAnswers(this.#journal, this.#scope, this.#batch, this.deadline, (error) =>
      this.#broke(error, 'the calls of another process could not be read', 'all'),
    );
  }

  key(index: number): CallKey {
    const acceptance = this.#acceptances[index];
    // Reusing the journal's own text is faster than building the key again.
    return acceptance?.kind === 'fresh' ? acceptance.key : callKey(this.#scope.id, index);
  }

  /**
   * Records the whole batch. A call that was delivered before gets its answer from the journal, or from the process
   * that runs it now. If the journal refuses the batch, no call runs. Never rejects.
   * @param recovering the recovery of calls that dead processes left, which comes first. Undefined: it is
   * done.
   */
  async accept(
    evaluated: readonly EvaluatedCall[],
    recovering: Promise<void> | undefined,
  ): Promise<readonly EvaluatedCall[]> {
    const { again, conversation } = this.#options;
    const isNamedAgain = again === true && conversation !== undefined;
    const isOrdered = this.#isOrdered && evaluated.some(hasEffects);
    try {
      if (recovering !== undefined) await this.deadline.within(recovering);
      if (this.#unrecorded.size > 0) await this.deadline.within(this.#unrecorded.flush());
      // If the conversation waits for the person after a crash, a rerun attaches too, so that it is refused.
      const attach = isNamedAgain ? await this.deadline.within(isHeld(this.#scope)) : attaches(this.#options);
      if (isOrdered) await this.#batch.arrival();
      this.#isAccepted = 'asked';
      const accepting = this.#journal.accept(this.#entry(evaluated, attach));
      this.#batch.placed();
      if (!(accepting instanceof Promise)) this.#acceptances = accepting;
      else if (attach || isOrdered || this.#isPlaced || !proven.has(this.#journal)) {
        this.#acceptances = await this.deadline.within(accepting);
        proven.add(this.#journal);
      } else {
        // Every call is fresh and the journal works, so the first claim waits for this record and shares its
        // write.
        this.#accepting = this.deadline.within(accepting).catch((error: unknown) => this.#refused(error));
      }
      this.#isAccepted = 'yes';
      const mayWait = isOrdered && !this.#isPlaced;
      if (mayWait && (isNamedAgain || this.#acceptances.some(isBehind))) await this.#findOrder();
      if (!attach && !this.#isPlaced) return evaluated;
      if (this.#acceptances.every(({ kind }) => kind === 'fresh')) return evaluated;
      const current = await this.others.await(this.#acceptances);
      return evaluated.map((call, index) => attachToRecord(call, current[index]));
    } catch (error) {
      const known = attaches(this.#options)
        ? await findAnswered(evaluated, this.#scope, this.deadline)
        : evaluated;
      return refuseUnrecorded(known, this.#scope, error, this.#isPlaced && this.#isAccepted === 'asked');
    }
  }

  #refused(error: unknown): void {
    this.#isAccepted = 'asked';
    this.#broke(error, 'a batch could not be recorded', 'all');
  }

  #entry(evaluated: readonly EvaluatedCall[], attach: boolean): Parameters<Journal['accept']>[0] {
    const { id, conversation, message, origin } = this.#scope;
    const { clock, worker, openQuota } = this.#settings;
    const isShared = this.#isOrdered;
    const calls = evaluated.map((call) => toCallEntry(call, isShared));
    const { placement } = this.#scope;
    const who =
      placement === undefined
        ? { worker }
        : placedBatch(placement, evaluated, this.#options.timeoutMs, openQuota);
    const reads =
      placement === undefined && evaluated.every(needsNoClaim) ? ({ onlyReads: true } as const) : {};
    const entry = { id, conversation, attach, at: clock.now(), ...who, ...reads, calls };
    const said = message === undefined ? entry : { ...entry, message };
    return origin === undefined ? said : { ...said, origin };
  }

  /** Other processes may have calls in this conversation, and the journal can report them. */
  get #isOrdered(): boolean {
    return this.#batch.isOrdered && this.#journal.waiting !== undefined;
  }

  /** The calls that workers run, in order. */
  get #isPlaced(): boolean {
    return this.#scope.placement !== undefined;
  }

  async #findOrder(): Promise<void> {
    const { covers, isWorkerAncestor, worker } = this.#settings;
    const context = { ...this.others.context, covers, isWorkerAncestor, workerId: worker.id };
    this.order = await this.deadline.within(SharedOrder.of(this.#scope.id, context));
  }

  /** Continues a batch that is already recorded. */
  adopt(calls: readonly CallRecord[]): void {
    this.#isAccepted = 'yes';
    this.#acceptances = calls.map(({ key }) => ({ kind: 'fresh', key }));
  }

  /**
   * `wait`: from now on, the calls that need approval wait for it, even if this process dies. `resume`: from
   * now on, the batch belongs to this process. True for only one of several processes that try.
   */
  async decide(kind: 'wait' | 'resume', data: JsonObject = {}): Promise<boolean> {
    const isOrdered = kind === 'resume' && this.#isOrdered;
    if (isOrdered) await this.#batch.arrival();
    const decision = { kind, at: this.#settings.clock.now(), data: { why: 'approval', ...data } };
    const counts = await this.deadline.within(
      Promise.resolve(this.#journal.decide(this.#scope.id, decision)),
    );
    if (isOrdered && counts && !this.#isPlaced) {
      // The batch is already ours: if this fails, its calls are answered, and none is started.
      await this.#findOrder().catch((error: unknown) =>
        this.#broke(error, 'the calls of other processes could not be read', 'all'),
      );
    }
    return counts;
  }

  /**
   * Claims a call: true for only one of several processes that try, after all earlier writes are on disk. A
   * call that needs no claim waits for the answers of claimed calls too (D087).
   * @throws ToolError `journal_unavailable`, or rejects with it
   */
  claim(index: number, ready: ReadyCall): Awaitable<boolean> {
    this.#requireWhole();
    // Another worker may take the same call.
    if (this.#scope.taken === undefined && needsNoClaim(ready))
      return this.#owed === undefined || this.#onDisk(this.#owed).then(() => true);
    // Written together with the claim: until the next note, the program has done nothing.
    if (confinementOf(ready.tool, this.#settings) !== undefined)
      this.note(index, ready.call.id, 'process', { preparing: true });
    return this.take(index);
  }

  /** The claim itself, also for a call that is refused here: only the worker with the claim may answer. */
  take(index: number): Awaitable<boolean> {
    try {
      const claiming = this.#journal.claim(
        this.key(index),
        this.#settings.worker,
        this.#settings.clock.now(),
      );
      if (!(claiming instanceof Promise)) return this.#claims(index, claiming);
      return this.#onDisk(claiming.then((isOurs) => this.#claims(index, isOurs)));
    } catch (error) {
      this.#broken ??= { error };
      throw error;
    }
  }

  #claims(index: number, isOurs: boolean): boolean {
    if (isOurs) {
      this.#claimed ??= new Set();
      this.#claimed.add(index);
    }
    return isOurs;
  }

  /** Resolves when this write and all earlier ones are on disk. */
  async #onDisk<T>(writing: Promise<T>): Promise<T> {
    try {
      const written = await this.deadline.within(writing);
      await this.#accepting;
      this.#requireWhole();
      return written;
    } catch (error) {
      this.#broken ??= { error };
      throw error;
    }
  }

  /**
   * Records the answer of a call. True: it is on disk. False: it could not be recorded, so it is kept and
   * written as soon as the journal works again. A result: this result is the answer, because another process has
   * claimed or answered the call. Never throws or rejects.
   */
  finish(index: number, call: NamedCall, result: ToolResult): Awaitable<boolean | ToolResult> {
    if (this.#isAccepted !== 'yes') {
      // A journal that refused the batch may still have recorded it, and then needs the answer.
      if (this.#isAccepted !== 'no') this.#keep(index, result);
      return false;
    }
    // A call that was not claimed stays queued, for this worker or another one.
    if (this.#scope.taken !== undefined && this.#claimed?.has(index) !== true) return true;
    recordReads(this.#scope.memory);
    const failed = (error: unknown): false => {
      this.#broke(error, 'a result could not be recorded', call.id);
      this.#keep(index, result);
      return false;
    };
    const answered = (outcome: Finished): Awaitable<true | ToolResult> =>
      outcome === 'recorded' || this.others.of(this.key(index)).then((it) => it ?? unknownElsewhere(call));
    try {
      const finishing = this.#finish(index, result);
      if (!(finishing instanceof Promise)) return answered(finishing);
      if (this.#claimed?.has(index) === true) this.#owed = finishing;
      return this.deadline.within(finishing).then(answered, failed);
    } catch (error) {
      return failed(error);
    }
  }

  /** Records the outcome of a call that came after the call's answer. Never rejects. */
  async finishLate(index: number, call: NamedCall, result: ToolResult): Promise<void> {
    if (this.#isAccepted !== 'yes') return;
    try {
      await this.deadline.within(Promise.resolve(this.#finish(index, result)));
    } catch (error) {
      // Without a code the default logger prints nothing: a tool may continue after its journal was closed.
      this.#broke(error, 'the late outcome of a call could not be recorded', call.id, {});
      this.#keep(index, result);
    }
  }

  #finish(index: number, given: ToolResult): Awaitable<Finished> {
    const [result, claimant] = this.#ending(given);
    return this.#journal.finish(this.key(index), result, this.#settings.clock.now(), claimant);
  }

  #keep(index: number, given: ToolResult): void {
    const [result, claimant] = this.#ending(given);
    this.#unrecorded.add(this.key(index), result, this.#settings.clock.now(), claimant);
  }

  /**
   * The answer to record, and the claim that it ends. If the journal fails, a call for workers is withdrawn, so that
   * its next delivery is evaluated again. If a worker has already started it, the worker's answer counts.
   */
  #ending(result: ToolResult): readonly [ToolResult, Claimant] {
    const { callId: id, toolName: name, error } = result;
    return this.#isPlaced && error?.code === 'journal_unavailable'
      ? [notRun({ id, name }, 'journal_unavailable', UNRECORDED), 'queued']
      : [result, this.#settings.worker];
  }

  note(index: number, callId: string, kind: JournalNote['kind'], data: JournalNote['data']): void {
    this.noted(index, kind, data).catch((error: unknown) => {
      this.#broke(error, 'a note could not be recorded', callId);
    });
  }

  /** Like `note`, but resolves when the note is on disk. */
  async noted(index: number, kind: JournalNote['kind'], data: JournalNote['data']): Promise<void> {
    const note = { kind, data, at: this.#settings.clock.now() };
    await this.deadline.within(Promise.resolve(this.#journal.note(this.key(index), note)));
  }

  /** Resolves when the old and new contents of a call's changes are on disk, before any file is replaced. */
  async intend(index: number, intent: FileIntent): Promise<void> {
    this.#requireWhole();
    await this.#onDisk(noteIntent(this.#journal, this.key(index), intent, this.#settings.clock.now()));
  }

  #requireWhole(): void {
    if (this.#broken !== undefined) throw this.#broken.error;
  }

  #broke(error: unknown, what: string, callId: string, code: JsonObject = JOURNAL_UNAVAILABLE): void {
    this.#broken ??= { error };
    proven.delete(this.#journal);
    this.#settings.logger.error({ batch: this.#scope.id, callId, ...code, why: reasonOf(error) }, what);
  }
}

function hasEffects({ kind, effects }: EvaluatedCall): boolean {
  return kind === 'ready' && effects.length > 0;
}

function isBehind(acceptance: Acceptance): boolean {
  return acceptance.kind === 'fresh' && acceptance.behind === true;
}

type Finished = Awaited<ReturnType<Journal['finish']>>;

const JOURNAL_UNAVAILABLE = { code: 'journal_unavailable' };

/** Journals whose last write succeeded. */
const proven = new WeakSet<Journal>();
