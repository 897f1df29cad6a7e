import { covers } from '../base/covers.js';
import type { ToolResult } from '../contract/call.js';
import type { Clock, Logger } from '../contract/context.js';
import type { Dispatcher } from '../contract/fleet.js';
import type { CallKey, CallRecord, Journal, WorkerOffer } from '../contract/journal.js';
import { conflicts } from '../effects/conflicts.js';
import { failure, type NamedCall, notRun, reasonOf } from '../executor/answer/results.js';
import { deniedResult } from '../executor/approve/decide-placed.js';
import { recordedCall } from '../executor/call/calls.js';
import type { ToolExecutor } from '../executor/executor.js';
import { expire, expired } from '../executor/record/await-elsewhere.js';
import { isForAnyWorker } from '../executor/record/read-taker.js';
import { placedEffects } from '../executor/record/shared-order.js';
import { hasLeftOut, LEFT_OUT_OF_JOURNAL } from '../journal/redaction/left-out.js';
import { systemClock } from '../platform/clock/clock.js';
import { Candidates } from './candidates.js';
import { findTakable, freeSince, type TakableCall } from './find-takable.js';
import { keepOutput } from './kept-output.js';
import { LiveTape } from './live-tape.js';
import { Rounds } from './rounds.js';
import type { WorkerLease } from './worker-lease.js';

/** Pauses between two looks into the journal, in milliseconds: without a dispatcher, and with one. */
const LOOK_MS = 50;
const SWEEP_MS = 1_000;
/** Pauses between two looks for cancelled calls, in milliseconds: without signals of the journal, and with them. */
const CANCEL_MS = 100;
const CANCEL_SWEEP_MS = 1_000;
const LEASE_LOOK_MS = 100;
/** The time after which a call that ended without an answer is tried again, in milliseconds. */
const RETRY_MS = 1_000;
/** The maximum number of calls in one hint. */
const MOST_HINTS = 32;

export interface WorkerParts {
  readonly executor: ToolExecutor;
  readonly journal: Journal;
  readonly lease: WorkerLease;
  readonly offer: WorkerOffer;
  readonly hasTool: (name: string) => boolean;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly dispatcher: Dispatcher | undefined;
  /** Its executor has an approver, so the host's approval does not answer the questions of its policy. */
  readonly asksItself: boolean;
}

interface RunningCall {
  readonly record: CallRecord;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/**
 * A worker of a fleet: takes queued calls from the journal and runs them through its executor.
 *
 * 1. Only the claim in the journal decides who runs a call. Hints and looks merely propose calls.
 * 2. No tool starts unless the lease is held at that moment. When the lease is lost, running calls are
 *   aborted.
 * 3. A call that another worker has claimed never runs again here.
 * 4. `drain` takes no new calls and lets running calls end; `close` aborts them. Both end the session.
 */
export class FleetWorker {
  readonly #parts: WorkerParts;
  readonly #running = new Map<CallKey, RunningCall>();
  /** Calls that ended here without an answer, with the time of the next attempt. */
  readonly #later = new Map<CallKey, number>();
  readonly #rounds: Rounds;
  readonly #candidates = new Candidates();
  readonly #unlisteners: readonly (() => void)[];
  /** Called when there is room for another call, or when the worker takes no more calls. */
  readonly #rooms = new Set<() => void>();
  /** The last look left calls behind that may be taken when another call has ended. */
  #leftBehind = true;
  #takes = true;
  #beating: Promise<void> | undefined;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    const { dispatcher, leaseMs, journal } = parts;
    const { signals } = journal;
    this.#unlisteners = [
      dispatcher?.listen(() => this.#hinted()) ?? (() => {}),
      signals?.listen('cancel', (key) => this.#cancel([key])) ?? (() => {}),
    ];
    const rounds = new Rounds(parts.logger);
    this.#rounds = rounds;
    rounds.repeat(() => this.#beat(), leaseMs / 3);
    rounds.repeat(() => this.#takeSome(), dispatcher === undefined ? LOOK_MS : SWEEP_MS, 'early');
    rounds.repeat(() => this.#watchLease(), Math.min(LEASE_LOOK_MS, leaseMs / 3));
    rounds.repeat(() => this.#lookForCancelled(), signals === undefined ? CANCEL_MS : CANCEL_SWEEP_MS);
    rounds.repeat(() => this.#reap(), Math.min(1_000, leaseMs / 3));
  }

  /** The id under which it claims calls. */
  get id(): string {
    return this.#parts.lease.worker.id;
  }

  /** The number of running calls. */
  get running(): number {
    return this.#running.size;
  }

  /** Takes no new calls, and resolves when the running ones and the session have ended. */
  drain(): Promise<void> {
    this.#takes = false;
    this.#giveRoom();
    this.#draining ??= this.#drain();
    return this.#draining;
  }

  /** Aborts the running calls, and resolves when they have their answers. May be called twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #drain(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    await this.close();
  }

  async #close(): Promise<void> {
    const { executor, lease, logger } = this.#parts;
    this.#takes = false;
    this.#giveRoom();
    for (const { stop } of this.#running.values()) stop.abort('the worker was closed');
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    for (const unlisten of this.#unlisteners) unlisten();
    await this.#rounds.end();
    try {
      await lease.end();
    } catch (error) {
      logger.warn({ why: reasonOf(error) }, 'the session of a worker could not be ended: it expires');
    }
    await executor.close();
  }

  /** A full worker leaves the next hint of a queue to other workers. */
  #hinted(): Promise<void> {
    this.#candidates.hinted();
    this.#rounds.wakeUp();
    if (!this.#takes || this.#running.size < this.#parts.concurrency) return Promise.resolve();
    return new Promise((resolve) => void this.#rooms.add(resolve));
  }

  #giveRoom(): void {
    for (const resolve of this.#rooms) resolve();
    this.#rooms.clear();
  }

  #beat(): Promise<void> {
    this.#beating ??= this.#renew().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  async #renew(): Promise<void> {
    const { lease, logger } = this.#parts;
    const wasHeld = lease.isHeld;
    const cancelled = await lease.renew();
    if (cancelled !== undefined) {
      if (!wasHeld) this.#rounds.wakeUp();
      return this.#cancel(cancelled);
    }
    logger.warn({ worker: this.id, epoch: lease.worker.epoch }, 'the lease of a worker is lost');
    this.#abortAll();
    lease.beginNext();
    await lease.renew();
    this.#rounds.wakeUp();
  }

  #abortAll(): void {
    for (const { stop } of this.#running.values()) stop.abort('the worker has lost its lease');
  }

  #cancel(keys: readonly CallKey[]): void {
    for (const key of keys) this.#running.get(key)?.stop.abort('cancelled');
  }

  async #watchLease(): Promise<void> {
    if (!this.#parts.lease.isLost) return;
    this.#abortAll();
    await this.#beat();
  }

  /** A signal may be lost, and a renewal comes late. */
  async #lookForCancelled(): Promise<void> {
    for (const key of [...this.#running.keys()]) {
      const notes = await this.#parts.journal.notes(key);
      if (notes.some(({ kind }) => kind === 'cancel')) this.#cancel([key]);
    }
  }

  async #reap(): Promise<void> {
    await this.#parts.executor.recovery.reap(this.id);
  }

  async #takeSome(): Promise<void> {
    const { journal, clock, offer, hasTool, concurrency, lease, executor } = this.#parts;
    const most = concurrency - this.#running.size;
    this.#leftBehind = true;
    if (!this.#takes || most <= 0 || !lease.isHeld) return;
    const { takable, leftBehind } = await findTakable(most, {
      ...{ journal, clock, offer, candidates: this.#candidates },
      conflicts: (a, b) => conflicts(placedEffects(a), placedEffects(b), covers),
      isWanted: (record) =>
        hasTool(record.toolName) &&
        !this.#running.has(record.key) &&
        (this.#later.get(record.key) ?? 0) <= systemClock.monotonic(),
      late: (record, ms) => this.#refuse(record, expired(named(record), ms)),
      denied: (record, reason) => this.#refuse(record, deniedResult(record, reason)),
      unanswered: (record) => this.#refuse(record, refusedBefore(named(record))),
      unasked: async ({ batchId }) => {
        await journal.decide(batchId, { kind: 'wait', at: clock.now(), data: { why: 'approval' } });
      },
      recoverLost: (running) => executor.recovery.recoverLost(running),
    });
    this.#leftBehind = leftBehind;
    for (const each of takable) await this.#take(each);
  }

  async #refuse(record: CallRecord, result: ReturnType<typeof expired>): Promise<void> {
    const { journal, clock } = this.#parts;
    await expire(record, { journal, clock }, result);
    journal.signals?.send('answer', [record.key]);
  }

  async #take(takable: TakableCall): Promise<void> {
    const { record, args } = takable;
    if (hasLeftOut(args)) {
      const message = `${record.toolName} cannot run in another process: ${LEFT_OUT_OF_JOURNAL}.`;
      return this.#refuse(record, notRun(named(record), 'execution_failed', message));
    }
    if (!this.#takes) return;
    const stop = new AbortController();
    const ended = this.#run(takable, stop.signal);
    this.#running.set(record.key, { record, stop, ended });
  }

  async #run({ record, args, consent }: TakableCall, signal: AbortSignal): Promise<void> {
    const { executor, lease, journal, logger, asksItself, clock } = this.#parts;
    const { key, conversation, placement, batchId, attach } = record;
    const { worker } = lease;
    const asked = asksItself ? {} : consent === 'none' ? { defer: true } : { approver: null };
    const timeoutMs = placement?.timeoutMs;
    const options = {
      ...asked,
      signal,
      conversation,
      again: attach !== true,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    };
    const startBy = await startDeadline(record, journal);
    try {
      const refusal = () => this.#refusal(record, worker, startBy);
      const tape = journal.print && new LiveTape(key, { journal, clock, logger });
      const live = tape && {
        printed: (stream: 'stdout' | 'stderr', text: string) => tape.push(stream, text),
      };
      const ending = async (result: ToolResult): Promise<ToolResult> => {
        await tape?.end();
        return keepOutput(record, result, this.#parts);
      };
      const isByPerson = consent === 'person';
      const keepsUnexpected = asksItself ? undefined : consent === 'host';
      const taken = { record, worker, isByPerson, keepsUnexpected, refusal, ending, ...live };
      const [result] = await executor.take({ ...recordedCall(record), args }, taken, options);
      journal.signals?.send('answer', [key]);
      if (await this.#isOver(key, result)) this.#later.delete(key);
      else {
        // Another worker has it, and probably the calls next to it.
        this.#candidates.forget();
        this.#later.set(key, systemClock.monotonic() + RETRY_MS);
      }
      if (placedEffects(record).length > 0) await this.#hintNext(conversation);
    } catch (error) {
      logger.error({ batch: batchId, call: key, why: reasonOf(error) }, 'a call could not be taken');
      this.#later.set(key, systemClock.monotonic() + RETRY_MS);
    } finally {
      this.#running.delete(key);
      this.#giveRoom();
      // Another look now would only slow down the host, which is reading the answer.
      if (this.#leftBehind) this.#rounds.wakeUp();
      else this.#rounds.wakeUpWithin(LOOK_MS);
    }
  }

  /** The reason why a claimed call must not start. */
  #refusal(record: CallRecord, worker: WorkerLease['worker'], startBy: number | undefined) {
    const { lease, clock } = this.#parts;
    if (startBy !== undefined && clock.now() >= startBy)
      return expired(named(record), record.placement?.startDeadlineMs ?? 0);
    if (lease.isHeld && lease.worker === worker) return undefined;
    const message = 'Not run: its worker lost its lease before it could start the call.';
    return failure(named(record), 'cancelled', message, 'no', { details: { reason: 'lease_lost' } });
  }

  /** The call has its answer, or waits for the person. */
  async #isOver(key: CallKey, result: ToolResult | undefined): Promise<boolean> {
    if (result?.success === true && result.metadata.recorded !== false) return true;
    const after = await this.#parts.journal.call(key);
    return after?.result !== undefined || after?.decision === 'wait';
  }

  /** Sends hints for calls that waited for a call that has just ended. */
  async #hintNext(conversation: string): Promise<void> {
    const { dispatcher, journal } = this.#parts;
    if (dispatcher === undefined) return;
    const open = await journal.unfinished(conversation, { limit: 8 * MOST_HINTS });
    const next = open.filter(isForAnyWorker).slice(0, MOST_HINTS);
    if (next.length > 0) await dispatcher.hint(next.map(({ key }) => key));
  }
}

async function startDeadline(record: CallRecord, journal: Journal): Promise<number | undefined> {
  const startDeadlineMs = record.placement?.startDeadlineMs;
  return startDeadlineMs === undefined ? undefined : (await freeSince(record, journal)) + startDeadlineMs;
}

function refusedBefore(call: NamedCall): ToolResult {
  const message = `Not run: ${call.name} was refused, and the process that refused it ended before it recorded the reason.`;
  return notRun(call, 'cancelled', message, { reason: 'host_lost' });
}

function named({ callId, toolName }: CallRecord): { readonly id: string; readonly name: string } {
  return { id: callId, name: toolName };
}
