import { type LiveMember, LiveSet } from '../../base/live-set.js';
import type { Clock } from '../../contract/context.js';
import { systemClock } from './clock.js';

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
  readonly #clock: Clock;
  readonly #alarm: Alarm;
  readonly #running = new LiveSet<T>();
  #ringsAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#alarm = clock === systemClock ? new SystemAlarm() : new ClockAlarm(clock);
  }

  get running(): readonly T[] {
    return this.#running.members;
  }

  /** @param now when it started, where the caller has just looked. */
  start(limited: T, limitMs: number, now = this.#clock.monotonic()): void {
    limited.dueAt = now + limitMs;
    this.#running.add(limited);
    if (limited.dueAt < this.#ringsAt) this.#set(limited.dueAt);
    else if (this.#running.size === 1) this.#alarm.wake();
  }

  /** Of what has started: it may take no more than this from now on. */
  shorten(limited: T, limitMs: number): void {
    limited.dueAt = Math.min(limited.dueAt, this.#clock.monotonic() + limitMs);
    if (limited.dueAt < this.#ringsAt) this.#set(limited.dueAt);
  }

  /** False where it does not run: its time was over already, it had ended, or it never started. */
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
    // A timer may ring a little early.
    const now = this.#clock.monotonic() + 1;
    const due = this.running.filter(({ dueAt }) => dueAt <= now);
    for (const limited of due) this.#running.delete(limited);
    const next = Math.min(...this.running.map(({ dueAt }) => dueAt));
    if (this.#running.size > 0) this.#set(next);
    for (const limited of due) limited.over();
  }
}

interface Alarm {
  /** Takes the place of what was set before. */
  set(delayMs: number, ring: () => void): void;
  /** Nothing waits for it, and it keeps no process alive. False: it does not ring any more. */
  rest(): boolean;
  /** Something waits for it again. */
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

/** Of a clock that is not the system's: nothing is known of its timers but that they can be taken back. */
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
