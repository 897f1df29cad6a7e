import type { Clock } from '../../contract/context.js';
import { systemClock } from './clock.js';

/** Work with a time limit. */
export interface Limited {
  /** On the monotonic clock; set at the start. */
  dueAt: number;
  /** Called once if it has not ended by then. Must not throw. */
  over(): void;
}

/**
 * Time limits that share one timer: nearly all work ends long before its limit, and a timer for each would
 * cost more than many of them. The timer keeps the process alive while anything runs.
 */
export class TimeLimits<T extends Limited> {
  readonly #clock: Clock;
  readonly #alarm: Alarm;
  readonly #running = new Set<T>();
  #ringsAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#alarm = clock === systemClock ? new SystemAlarm() : new ClockAlarm(clock);
  }

  get running(): ReadonlySet<T> {
    return this.#running;
  }

  /** @param now the start, if the caller has just read the clock. */
  start(limited: T, limitMs: number, now = this.#clock.monotonic()): void {
    limited.dueAt = now + limitMs;
    this.#running.add(limited);
    if (limited.dueAt < this.#ringsAt) this.#set(limited.dueAt);
    else if (this.#running.size === 1) this.#alarm.wake();
  }

  /** Shortens the remaining time of running work. */
  shorten(limited: T, limitMs: number): void {
    limited.dueAt = Math.min(limited.dueAt, this.#clock.monotonic() + limitMs);
    if (limited.dueAt < this.#ringsAt) this.#set(limited.dueAt);
  }

  /** False if it does not run: its limit has passed, it has ended, or it never started. */
  end(limited: T): boolean {
    const wasRunning = this.#running.delete(limited);
    if (wasRunning && this.#running.size === 0 && !this.#alarm.rest()) {
      this.#ringsAt = Number.POSITIVE_INFINITY;
    }
    return wasRunning;
  }

  #set(ringsAt: number): void {
    this.#ringsAt = ringsAt;
    this.#alarm.set(ringsAt - this.#clock.monotonic(), () => this.#ring());
  }

  #ring(): void {
    this.#ringsAt = Number.POSITIVE_INFINITY;
    // A timer may fire slightly early.
    const now = this.#clock.monotonic() + 1;
    const due = [...this.running].filter(({ dueAt }) => dueAt <= now);
    for (const limited of due) this.#running.delete(limited);
    const next = Math.min(...[...this.running].map(({ dueAt }) => dueAt));
    if (this.#running.size > 0) this.#set(next);
    for (const limited of due) limited.over();
  }
}

interface Alarm {
  /** Replaces the previous setting. */
  set(delayMs: number, ring: () => void): void;
  /** Nothing waits for the work, and it keeps no process alive. False: the work has no timer. */
  rest(): boolean;
  /** Something waits for the work again. */
  wake(): void;
}

class SystemAlarm implements Alarm {
  #timer: NodeJS.Timeout | undefined;

  set(delayMs: number, ring: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(ring, delayMs);
  }

  rest(): boolean {
    this.#timer?.unref();
    return true;
  }

  wake(): void {
    this.#timer?.ref();
  }
}

/** For a custom clock, whose timers can only be cancelled. */
class ClockAlarm implements Alarm {
  readonly #clock: Clock;
  #forget: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set(delayMs: number, ring: () => void): void {
    this.#forget?.();
    this.#forget = this.#clock.after(delayMs, ring);
  }

  rest(): boolean {
    this.#forget?.();
    this.#forget = undefined;
    return false;
  }

  wake(): void {}
}
