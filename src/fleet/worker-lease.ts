import type { Clock } from '../contract/context.js';
import type { Journal, SessionWorker, Worker, WorkerOffer } from '../contract/journal.js';

/**
 * The session of a worker.
 *
 * 1. The lease counts from the moment when the renewal was sent, on the monotonic clock: the answer may come
 *   late, and the time of day may be changed. An observer counts from the moment when it sees the beat, which
 *   is later.
 * 2. A lease that has run out is lost, even if the journal would still renew it, because an observer may have
 *   noticed.
 * 3. After a lost lease the worker begins a session with a higher epoch. The journal refuses claims of the
 *   old one.
 */
export class WorkerLease {
  /** The worker in its claims. */
  worker: SessionWorker;
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #offer: WorkerOffer & { readonly leaseMs: number };
  #heldUntil = Number.NEGATIVE_INFINITY;
  #beat = 0;

  constructor(
    process: Worker,
    journal: Journal,
    clock: Clock,
    offer: WorkerOffer & { readonly leaseMs: number },
  ) {
    this.worker = { ...process, epoch: 1 };
    this.#journal = journal;
    this.#clock = clock;
    this.#offer = offer;
  }

  get isHeld(): boolean {
    return this.#clock.monotonic() < this.#heldUntil;
  }

  /** The lease was held but has expired. */
  get isLost(): boolean {
    return this.#beat > 0 && !this.isHeld;
  }

  /**
   * Begins or continues the session. @returns the calls of this worker that were cancelled elsewhere; undefined: the
   * session is over. @throws the journal's error; the current lease then stays valid until it expires
   */
  async renew(): Promise<readonly string[] | undefined> {
    const sentAt = this.#clock.monotonic();
    if (this.#beat > 0 && sentAt >= this.#heldUntil) return undefined;
    const renewal = await this.#journal.renew?.(this.worker, this.#clock.now(), this.#offer);
    if (renewal === undefined) {
      this.#heldUntil = Number.NEGATIVE_INFINITY;
      return undefined;
    }
    this.#beat = renewal.beat;
    this.#heldUntil = sentAt + this.#offer.leaseMs;
    return renewal.cancelled;
  }

  /** The next renewal begins a new session. */
  beginNext(): void {
    this.#beat = 0;
    this.#heldUntil = Number.NEGATIVE_INFINITY;
    this.worker = { ...this.worker, epoch: this.worker.epoch + 1 };
  }

  /** Ends the session, so that no other worker has to wait until it expires. */
  async end(): Promise<void> {
    this.#heldUntil = Number.NEGATIVE_INFINITY;
    if (this.#beat > 0) await this.#journal.reap?.(this.worker, this.#beat, this.#clock.now());
  }
}
