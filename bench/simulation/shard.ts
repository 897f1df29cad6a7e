import { Fifo } from './event-queue.js';

/** The costs of one database, as measured. */
export interface ShardCosts {
  /** Open connections, over all gateways. */
  readonly connections: number;
  /** Processors that work on statements. */
  readonly cores: number;
  /** Processor time of one transaction, in milliseconds. */
  readonly workMs: number;
  /** One write of the log to the disk, in milliseconds. All transactions that wait then share it. */
  readonly flushMs: number;
}

/** The part of the simulation that a shard uses. */
export interface ShardClock {
  /** Calls `worked` after this time. */
  work(afterMs: number, transaction: number): void;
  /** Calls `flushed` after this time. */
  flush(afterMs: number): void;
  /** The transaction is committed. */
  committed(transaction: number): void;
}

/**
 * A database with group commit. A transaction waits for a connection, then for a processor, then for the next write of the
 * log, which commits all that wait for it. Its connection is free again after that.
 */
export class Shard {
  readonly #costs: ShardCosts;
  readonly #clock: ShardClock;
  readonly #waiting = new Fifo();
  readonly #ready = new Fifo();
  #unflushed: number[] = [];
  #flushing: number[] | undefined;
  #connections = 0;
  #working = 0;
  #isDown = false;
  readonly figures = { flushes: 0, committed: 0, workedMs: 0, mostWaiting: 0 };

  constructor(costs: ShardCosts, clock: ShardClock) {
    this.#costs = costs;
    this.#clock = clock;
  }

  submit(transaction: number): void {
    this.#waiting.push(transaction);
    this.figures.mostWaiting = Math.max(this.figures.mostWaiting, this.#waiting.size);
    this.#advance();
  }

  worked(transaction: number): void {
    this.#working--;
    this.figures.workedMs += this.#costs.workMs;
    this.#unflushed.push(transaction);
    this.#advance();
  }

  flushed(): void {
    const committed = this.#flushing ?? [];
    this.#flushing = undefined;
    this.#connections -= committed.length;
    this.figures.flushes++;
    this.figures.committed += committed.length;
    for (const transaction of committed) this.#clock.committed(transaction);
    this.#advance();
  }

  /** Nothing begins until `restart`. Transactions that are under way end late: their callers ask again. */
  fail(): void {
    this.#isDown = true;
  }

  restart(): void {
    this.#isDown = false;
    this.#advance();
  }

  #advance(): void {
    if (this.#isDown) return;
    const { connections, cores, workMs, flushMs } = this.#costs;
    while (this.#connections < connections && this.#waiting.size > 0) {
      this.#connections++;
      this.#ready.push(this.#waiting.shift() as number);
    }
    while (this.#working < cores && this.#ready.size > 0) {
      this.#working++;
      this.#clock.work(workMs, this.#ready.shift() as number);
    }
    if (this.#flushing !== undefined || this.#unflushed.length === 0) return;
    this.#flushing = this.#unflushed;
    this.#unflushed = [];
    this.#clock.flush(flushMs);
  }
}
