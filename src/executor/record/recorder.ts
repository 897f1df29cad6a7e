import type { ToolCall } from '../../contract/call.js';
import type { FileIntent } from '../../contract/files.js';
import type { Acceptance, CallKey, CallRecord, Journal, JournalNote } from '../../contract/journal.js';
import type { ToolResult } from '../../contract/result.js';
import { callKey } from '../../journal/call-key.js';
import type { BatchScope } from '../execute/batch-scope.js';
import { type JudgedCall, type ReadyCall, shownEffects } from '../plan/judged-call.js';
import type { EngineSettings } from '../settings.js';
import { awaitDeliveries, isUnderWay } from './await-deliveries.js';
import { noteIntent } from './note-intent.js';
import { reasonOf } from './reason-of.js';

/** The place of a batch in the journal: what is written when, and what is waited for. */
export class Recorder {
  readonly #journal: Journal;
  readonly #settings: EngineSettings;
  readonly #scope: BatchScope;
  readonly #batchId: string;
  /** What the journal has said of the calls, where it has answered. */
  #answers: readonly Acceptance[] = NO_ANSWERS;
  /** The batch's own record, where nobody has waited for it yet. */
  #accepted: Promise<void> | undefined;
  /** How many writes the return has to wait for. */
  #pending = 0;
  #onSettled: (() => void) | undefined;
  /** Calls that do more than read, where the journal answers later. */
  #claimed: Set<number> | undefined;
  /** The last result of one of them that may not be on disk yet. */
  #owed: Promise<void> | undefined;
  /** The first write that failed. What comes later could not be accounted for: it is not started. */
  #broken: { readonly error: unknown } | undefined;

  constructor(journal: Journal, scope: BatchScope) {
    this.#journal = journal;
    this.#settings = scope.settings;
    this.#scope = scope;
    this.#batchId = scope.id;
  }

  key(index: number): CallKey {
    const answer = this.#answers[index];
    // The journal's own text of it is found faster than one that is put together anew.
    return answer?.kind === 'fresh' ? answer.key : callKey(this.#batchId, index);
  }

  /** What becomes of calls that somebody else is at. Undefined: nobody is. */
  awaitOthers(
    answers: readonly Acceptance[],
    signal: AbortSignal,
  ): Promise<readonly Acceptance[]> | undefined {
    const world = { ...this.#settings, journal: this.#journal };
    if (!answers.some((answer) => isUnderWay(answer, world))) return undefined;
    return awaitDeliveries(answers, world, { signal, limitMs: this.#settings.timeouts.default.ms });
  }

  /** Goes on with a batch that is recorded. */
  adopt(calls: readonly CallRecord[]): void {
    this.#answers = calls.map(({ key }) => ({ kind: 'fresh', key }));
  }

  /** From now on the batch waits for approval, whatever becomes of this process. */
  async putOff(): Promise<void> {
    const data = { why: 'approval' };
    await this.#journal.decide(this.#batchId, { kind: 'wait', at: this.#settings.clock.now(), data });
  }

  /** Ends the wait: true for one of all who try. From now on the batch lives and dies with this process. */
  async takeOver(): Promise<boolean> {
    const data = { why: 'approval', worker: { ...this.#settings.worker } };
    return this.#journal.decide(this.#batchId, { kind: 'resume', at: this.#settings.clock.now(), data });
  }

  /**
   * Records the batch whole. A promise where the answer matters: calls may be known already, or the journal has not
   * yet proved that it can be written. Else the first claim carries the record to the disk, and waits for it.
   */
  accept(
    attach: boolean,
    judged: readonly JudgedCall[],
  ): readonly Acceptance[] | Promise<readonly Acceptance[]> {
    const accepted = this.#write(attach, judged);
    if (!(accepted instanceof Promise)) {
      this.#answers = accepted;
      return accepted;
    }
    if (attach || !proven.has(this.#journal)) {
      return accepted.then((answers) => {
        proven.add(this.#journal);
        return answers;
      });
    }
    this.#pending++;
    this.#accepted = accepted.then(
      () => this.#acceptArrived(),
      (error: unknown) => {
        this.#complain(error, 'a batch could not be recorded', 'all');
        this.#acceptArrived();
      },
    );
    return NO_ANSWERS;
  }

  #write(
    attach: boolean,
    judged: readonly JudgedCall[],
  ): readonly Acceptance[] | Promise<readonly Acceptance[]> {
    const { conversation, message, origin } = this.#scope;
    return this.#journal.accept({
      id: this.#batchId,
      conversation,
      attach,
      at: this.#settings.clock.now(),
      worker: this.#settings.worker,
      ...(message === undefined ? NOTHING : { message }),
      ...(origin === undefined ? NOTHING : { origin }),
      calls: judged.map((call) => ({
        callId: call.call.id,
        toolName: call.call.name,
        args: call.call.args,
        // What the policy has seen a command touch is a part of what was judged, and agreed to.
        effects: shownEffects(call),
        disposition:
          call.kind === 'resolved'
            ? 'pre_resolved'
            : call.needsApproval
              ? 'requires_confirmation'
              : 'execute_now',
        reason: call.reason,
      })),
    });
  }

  /**
   * The fence. A call that only reads needs none: running it again harms nobody; it waits for the results of those that
   * do more, as every call does (D087). One that declares nothing gets one: what it does is not known to be repeatable.
   * Where it answers later, what else is asked of a call that may start is `accepted` and `requireWhole`.
   */
  claim(index: number, { onlyReads, declared }: ReadyCall): boolean | Promise<boolean> {
    this.requireWhole();
    if (onlyReads && declared.length > 0) return this.#owed?.then(isOnDisk) ?? true;
    try {
      const claimed = this.#journal.claim(this.key(index), this.#settings.worker, this.#settings.clock.now());
      if (claimed instanceof Promise) this.#willOwe(index);
      return claimed;
    } catch (error) {
      this.break(error);
      throw error;
    }
  }

  #willOwe(index: number): void {
    this.#claimed ??= new Set();
    this.#claimed.add(index);
  }

  /** What has to be waited for besides a claim, before its call may start; as a rule it is there with the claim. */
  get accepted(): Promise<void> | undefined {
    return this.#accepted;
  }

  /** A write has failed. */
  break(error: unknown): void {
    this.#broken ??= { error };
  }

  /** @throws the first write that failed. */
  requireWhole(): void {
    if (this.#broken !== undefined) throw this.#broken.error;
  }

  note(index: number, callId: string, kind: JournalNote['kind'], data: JournalNote['data']): void {
    const what = 'a note could not be recorded';
    try {
      const written = this.#journal.note(this.key(index), { kind, data, at: this.#settings.clock.now() });
      if (written instanceof Promise) void this.#await(written, what, callId);
    } catch (error) {
      this.#complain(error, what, callId);
    }
  }

  /** Resolves when it is on disk what a call will replace, with what is there now: before that, nothing is replaced. */
  async intend(index: number, intent: FileIntent): Promise<void> {
    this.requireWhole();
    try {
      await noteIntent(this.#journal, this.key(index), intent, this.#settings.clock.now());
    } catch (error) {
      this.break(error);
      throw error;
    }
  }

  finish(index: number, call: Pick<ToolCall, 'id' | 'name'>, result: ToolResult): void {
    const what = 'a result could not be recorded';
    try {
      const written = this.#journal.finish(this.key(index), result, this.#settings.clock.now());
      if (!(written instanceof Promise)) return;
      const onDisk = this.#await(written, what, call.id);
      if (this.#claimed?.has(index) === true) this.#owed = onDisk;
    } catch (error) {
      this.#complain(error, what, call.id);
    }
  }

  /** Whether everything of this batch is on disk, or is known not to be; else it is told when it is. */
  isSettled(whenSettled: () => void): boolean {
    if (this.#pending === 0) return true;
    this.#onSettled = whenSettled;
    return false;
  }

  #await(written: Promise<unknown>, what: string, callId: string): Promise<void> {
    this.#pending++;
    return written.then(
      () => this.#arrived(),
      (error: unknown) => {
        this.#complain(error, what, callId);
        this.#arrived();
      },
    );
  }

  #acceptArrived(): void {
    this.#accepted = undefined;
    this.#arrived();
  }

  #arrived(): void {
    this.#pending--;
    if (this.#pending > 0) return;
    this.#owed = undefined;
    this.#onSettled?.();
  }

  // A result that is known stays true when it cannot be recorded: the log says so, and the call keeps its answer.
  #complain(error: unknown, what: string, callId: string): void {
    this.break(error);
    proven.delete(this.#journal);
    const why = reasonOf(error);
    this.#settings.logger.error({ batch: this.#batchId, callId, why }, what);
  }
}

const isOnDisk = (): boolean => true;
const NOTHING = Object.freeze({});
const NO_ANSWERS: readonly Acceptance[] = [];

/** Journals whose last word was that they can be written. */
const proven = new WeakSet<Journal>();
