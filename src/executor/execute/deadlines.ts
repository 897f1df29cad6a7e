import type { Clock } from '../../contract/context.js';
import type { Stop } from './stop.js';

/** A run that may take only so long. */
export interface Timed {
  readonly timeoutMs: number;
  /** When its time is over, by the monotonic clock. */
  readonly dueAt: number;
  stop(stop: Stop): void;
}

/** A timer may ring so much early. */
const EARLY_MS = 5;

/**
 * Ends what runs too long, with one timer for a batch: nearly all calls are answered long before their time is over,
 * and to set a timer and take it back for each of them costs more than many a call.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #running: () => readonly Timed[];
  /** What the timer was set for, which may be answered by now. */
  #next: Timed | undefined;
  #forget: (() => void) | undefined;

  /** @param running what runs, then. */
  constructor(clock: Clock, running: () => readonly Timed[]) {
    this.#clock = clock;
    this.#running = running;
  }

  watch(run: Timed): void {
    this.#watch(run, run.dueAt - this.#clock.monotonic());
  }

  /** Nothing runs any more, and nothing will. */
  end(): void {
    this.#forget?.();
    this.#forget = undefined;
    this.#next = undefined;
  }

  #watch(run: Timed, delayMs: number): void {
    if (this.#next !== undefined && this.#next.dueAt <= run.dueAt) return;
    this.#forget?.();
    this.#next = run;
    this.#forget = this.#clock.after(delayMs, () => this.#ring(run));
  }

  #ring(due: Timed): void {
    this.end();
    const now = this.#clock.monotonic();
    // A timer may ring a little early: what it was set for is due, if its time has not been stopped meanwhile.
    const isDue = (run: Timed): boolean => run.dueAt <= (run === due ? now + EARLY_MS : now);
    const running = [...this.#running()];
    for (const run of running)
      if (!isDue(run) && Number.isFinite(run.dueAt)) this.#watch(run, run.dueAt - now);
    for (const run of running) if (isDue(run)) run.stop({ cause: 'timeout', timeoutMs: run.timeoutMs });
  }
}
