import type { Awaitable, ToolResult } from '../../contract/call.js';
import type { RunOptions } from '../../contract/executor.js';
import type { FileIntent } from '../../contract/files.js';
import type { Acceptance, CallKey, CallRecord, Journal, JournalNote } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { callKey } from '../../journal/records/call-key.js';
import { refuseUnrecorded } from '../answer/refuse-ready.js';
import { type NamedCall, reasonOf } from '../answer/results.js';
import type { BatchScope } from '../call/batch-scope.js';
import { toCallEntry } from '../call/calls.js';
import type { EvaluatedCall, ReadyCall } from '../call/evaluated-call.js';
import { confinementOf } from '../call/program-confinement.js';
import { attaches } from '../call/run-options.js';
import type { RecordSettings } from '../call/settings.js';
import { attachToRecord, awaitDeliveries } from './attach.js';
import { recordReads } from './conversation-memories.js';
import { findAnswered, isHeld } from './find-earlier.js';
import { JournalDeadline } from './journal-deadline.js';
import { noteIntent } from './noted-change.js';
import { type UnrecordedResults, unrecordedResultsOf } from './unrecorded-results.js';

/**
 * The place of a batch in the journal.
 *
 * 1. A batch is accepted whole before any of its calls is claimed, and a call is claimed before it has an effect.
 * 2. A call that was delivered before keeps its first answer, even while nothing new can be recorded.
 * 3. Nothing is waited for longer than the default timeout. After the first write that fails nothing more is started.
 * 4. An answer that cannot be recorded stays true: it is kept, and written when the journal works again.
 * 5. What is asked of the journal in one turn of the event loop shares a write: the acceptance of a batch and its first
 *    claim, the answer of a call and the claim of the next.
 */
export class Recorder {
  readonly #journal: Journal;
  readonly #settings: RecordSettings;
  readonly #scope: BatchScope;
  readonly #options: RunOptions;
  readonly #batch: { readonly stopped: Promise<void> };
  readonly deadline: JournalDeadline;
  /** By call; empty where the journal answers later. */
  #acceptances: readonly Acceptance[] = [];
  /** The batch on its way to the disk, if the first claim is to wait for that. Never rejects. */
  #accepting: Promise<unknown> | undefined;
  /** `asked`: the journal may have the batch; `yes`: it has, or will before the first claim. */
  #isAccepted: 'no' | 'asked' | 'yes' = 'no';
  /** Calls that do more than read, if the journal answers later. */
  #claimed: Set<number> | undefined;
  /** The last answer of one of them, which may not be on disk yet. */
  #owed: Promise<unknown> | undefined;
  /** The first write that failed. */
  #broken: { readonly error: unknown } | undefined;

  constructor(
    journal: Journal,
    scope: BatchScope,
    options: RunOptions,
    batch: { readonly stopped: Promise<void> },
  ) {
    this.#journal = journal;
    this.#settings = scope.settings;
    this.#scope = scope;
    this.#options = options;
    this.#batch = batch;
    this.deadline = new JournalDeadline(scope.settings.timeouts.default.ms);
  }

  key(index: number): CallKey {
    const acceptance = this.#acceptances[index];
    // The journal's own text is found faster than one that is put together again.
    return acceptance?.kind === 'fresh' ? acceptance.key : callKey(this.#scope.id, index);
  }

  /**
   * Records the batch whole. Calls that were delivered before are answered from the journal, or as they are answered
   * where they run now; if the journal refuses, no call runs. Never rejects.
   * @param recovering of what dead processes left, which comes first. Undefined: that is done.
   */
  async accept(
    evaluated: readonly EvaluatedCall[],
    recovering: Promise<void> | undefined,
  ): Promise<readonly EvaluatedCall[]> {
    const { again, conversation } = this.#options;
    const isNamedAgain = again === true && conversation !== undefined;
    try {
      if (recovering !== undefined) await this.deadline.within(recovering);
      if (this.#unrecorded.size > 0) await this.deadline.within(this.#unrecorded.flush());
      // A conversation that waits for the person after a crash is not run again either.
      const attach = isNamedAgain ? await this.deadline.within(isHeld(this.#scope)) : attaches(this.#options);
      this.#isAccepted = 'asked';
      const accepting = this.#journal.accept(this.#entry(evaluated, attach));
      if (!(accepting instanceof Promise)) this.#acceptances = accepting;
      else if (attach || !proven.has(this.#journal)) {
        this.#acceptances = await this.deadline.within(accepting);
        proven.add(this.#journal);
      } else {
        // Every call is fresh and the journal works: the first claim waits for the record, and shares its write.
        this.#accepting = this.deadline.within(accepting).catch((error: unknown) => this.#refused(error));
      }
      this.#isAccepted = 'yes';
      if (!attach) return evaluated;
      const current = (await this.awaitOthers(this.#acceptances)) ?? this.#acceptances;
      return evaluated.map((call, index) => attachToRecord(call, current[index]));
    } catch (error) {
      const known = attaches(this.#options)
        ? await findAnswered(evaluated, this.#scope, this.deadline)
        : evaluated;
      return refuseUnrecorded(known, this.#scope, error);
    }
  }

  #refused(error: unknown): void {
    this.#isAccepted = 'asked';
    this.#broke(error, 'a batch could not be recorded', 'all');
  }

  #entry(evaluated: readonly EvaluatedCall[], attach: boolean): Parameters<Journal['accept']>[0] {
    const { id, conversation, message, origin } = this.#scope;
    const { clock, worker } = this.#settings;
    const entry = { id, conversation, attach, at: clock.now(), worker, calls: evaluated.map(toCallEntry) };
    const said = message === undefined ? entry : { ...entry, message };
    return origin === undefined ? said : { ...said, origin };
  }

  /** What becomes of calls that run elsewhere. Undefined: there are none. */
  awaitOthers(acceptances: readonly Acceptance[]): Promise<readonly Acceptance[]> | undefined {
    const { isWorkerAlive, clock, timeouts } = this.#settings;
    const world = { isWorkerAlive, clock, journal: this.#journal };
    return awaitDeliveries(acceptances, world, this.#batch, timeouts.default.ms);
  }

  /** Continues a batch that is recorded. */
  adopt(calls: readonly CallRecord[]): void {
    this.#isAccepted = 'yes';
    this.#acceptances = calls.map(({ key }) => ({ kind: 'fresh', key }));
  }

  /**
   * `wait`: from now on the calls that need approval wait for it, whatever becomes of this process. `resume`: the batch
   * lives and dies with this process. True for one of all who try.
   */
  async decide(kind: 'wait' | 'resume', data: JsonObject = {}): Promise<boolean> {
    const decision = { kind, at: this.#settings.clock.now(), data: { why: 'approval', ...data } };
    return this.deadline.within(Promise.resolve(this.#journal.decide(this.#scope.id, decision)));
  }

  /**
   * The fence: true for one of all who try, once everything before it is on disk. A call that only reads needs no claim,
   * because running it twice changes nothing; it waits for the results of those that do more, as every call does (D087).
   * A call that declares nothing is claimed: whether it can be repeated is unknown.
   * @throws ToolError `journal_unavailable`, or rejects with it
   */
  claim(index: number, ready: ReadyCall): Awaitable<boolean> {
    this.#requireWhole();
    if (ready.onlyReads && ready.declared.length > 0)
      return this.#owed === undefined || this.#onDisk(this.#owed).then(() => true);
    // On disk with the claim: up to the next note the program has done nothing.
    if (confinementOf(ready.tool, this.#settings) !== undefined)
      this.note(index, ready.call.id, 'process', { preparing: true });
    try {
      const claiming = this.#journal.claim(
        this.key(index),
        this.#settings.worker,
        this.#settings.clock.now(),
      );
      if (!(claiming instanceof Promise)) return claiming;
      this.#claimed ??= new Set();
      this.#claimed.add(index);
      return this.#onDisk(claiming);
    } catch (error) {
      this.#broken ??= { error };
      throw error;
    }
  }

  /** Resolves when it is on disk, and everything before it. */
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
   * Records the answer of a call. True once it is on disk. False: it could not be recorded, so it is kept, and written
   * as soon as the journal works again. Never throws or rejects.
   */
  finish(index: number, call: NamedCall, result: ToolResult): Awaitable<boolean> {
    if (this.#isAccepted !== 'yes') {
      // A journal that refused the batch with an error may have it all the same: then it needs the answer.
      if (this.#isAccepted === 'asked') this.#keep(index, result);
      return false;
    }
    recordReads(this.#scope.memory);
    const failed = (error: unknown): false => {
      this.#broke(error, 'a result could not be recorded', call.id);
      this.#keep(index, result);
      return false;
    };
    try {
      const finishing = this.#journal.finish(this.key(index), result, this.#settings.clock.now());
      if (!(finishing instanceof Promise)) return true;
      if (this.#claimed?.has(index) === true) this.#owed = finishing;
      return this.deadline.within(finishing).then(() => true, failed);
    } catch (error) {
      return failed(error);
    }
  }

  /** Records what a call came to after it was answered. Never rejects. */
  async finishLate(index: number, call: NamedCall, result: ToolResult): Promise<void> {
    if (this.#isAccepted !== 'yes') return;
    try {
      await this.deadline.within(
        Promise.resolve(this.#journal.finish(this.key(index), result, this.#settings.clock.now())),
      );
    } catch (error) {
      // Without a code the default logger is silent: a tool may go on after its journal was closed.
      this.#broke(error, 'what came of a call after its answer could not be recorded', call.id, {});
      this.#keep(index, result);
    }
  }

  #keep(index: number, result: ToolResult): void {
    this.#unrecorded.add(this.key(index), result, this.#settings.clock.now());
  }

  note(index: number, callId: string, kind: JournalNote['kind'], data: JournalNote['data']): void {
    this.noted(index, kind, data).catch((error: unknown) => {
      this.#broke(error, 'a note could not be recorded', callId);
    });
  }

  /** The same, and resolves when it is on disk. */
  async noted(index: number, kind: JournalNote['kind'], data: JournalNote['data']): Promise<void> {
    const note = { kind, data, at: this.#settings.clock.now() };
    await this.deadline.within(Promise.resolve(this.#journal.note(this.key(index), note)));
  }

  /** Resolves when the content that a call will replace, and its own, are on disk: nothing is replaced before that. */
  async intend(index: number, intent: FileIntent): Promise<void> {
    this.#requireWhole();
    try {
      await this.deadline.within(
        noteIntent(this.#journal, this.key(index), intent, this.#settings.clock.now()),
      );
    } catch (error) {
      this.#broken ??= { error };
      throw error;
    }
  }

  get #unrecorded(): UnrecordedResults {
    return unrecordedResultsOf(this.#journal);
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

const JOURNAL_UNAVAILABLE = { code: 'journal_unavailable' };

/** Journals whose last write worked. */
const proven = new WeakSet<Journal>();
