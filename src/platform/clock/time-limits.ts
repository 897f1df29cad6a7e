import { type LiveMember, LiveSet } from '../../base/live-set.js';

/** Something that may take only so long. */
export interface Limited extends LiveMember {
  /** By the monotonic clock; set when it starts. */
  dueAt: number;
  /** Called once, if it has not ended by then. Must not throw. */
  over(): void;
}

/**
 * What may take only so long, with one timer for all of it: nearly everything ends long before its time is over, and to
 * set a timer and take it back each time costs more than many a wait. The timer keeps the process alive while anything
 * runs.
 */
export class TimeLimits<T extends Limited> {
  readonly #running = new LiveSet<T>();
  #timer: NodeJS.Timeout | undefined;
  #ringsAt = Number.POSITIVE_INFINITY;

  get running(): readonly T[] {
    return this.#running.members;
  }

  start(limited: T, limitMs: number): void {
    limited.dueAt = performance.now() + limitMs;
    this.#running.add(limited);
    if (limited.dueAt < this.#ringsAt) this.#set(limited.dueAt);
    else if (this.#running.size === 1) this.#timer?.ref();
  }

  /** Of what has started: it may take no more than this from now on. */
  shorten(limited: T, limitMs: number): void {
    limited.dueAt = Math.min(limited.dueAt, performance.now() + limitMs);
    if (limited.dueAt < this.#ringsAt) this.#set(limited.dueAt);
  }

  /** False where its time was over already, or it had ended. */
  end(limited: T): boolean {
    const wasRunning = this.#running.delete(limited);
    if (this.#running.size === 0) this.#timer?.unref();
    return wasRunning;
  }

  #set(ringsAt: number): void {
    clearTimeout(this.#timer);
    this.#ringsAt = ringsAt;
    this.#timer = setTimeout(() => this.#ring(), ringsAt - performance.now());
  }

  #ring(): void {
    this.#timer = undefined;
    this.#ringsAt = Number.POSITIVE_INFINITY;
    // A timer may ring a little early.
    const now = performance.now() + 1;
    const due = this.running.filter(({ dueAt }) => dueAt <= now);
    for (const limited of due) this.#running.delete(limited);
    const next = Math.min(...this.running.map(({ dueAt }) => dueAt));
    if (this.#running.size > 0) this.#set(next);
    for (const limited of due) limited.over();
  }
}
