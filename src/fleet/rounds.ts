import type { Logger } from '../contract/context.js';
import { reasonOf } from '../executor/answer/results.js';
import { systemClock } from '../platform/clock/clock.js';

/** Repeats some work with pauses until it is ended. An error is logged, and the next round tries again. */
export class Rounds {
  readonly #logger: Logger;
  readonly #loops: Promise<void>[] = [];
  readonly #pauses = new Set<() => void>();
  /** Counts the calls of `wakeUp`, so that a call during a round is not lost. */
  #wakes = 0;
  #forgetWake: (() => void) | undefined;
  #isEnded = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @param wakes `early`: `wakeUp` ends the pause */
  repeat(act: () => Promise<void>, pauseMs: number, wakes?: 'early'): void {
    this.#loops.push(this.#loop(act, pauseMs, wakes));
  }

  /** Starts the next round of the work with `early` before its pause is over. */
  wakeUp(): void {
    this.#forgetWake?.();
    this.#forgetWake = undefined;
    this.#wakes++;
    for (const goOn of [...this.#pauses]) goOn();
  }

  /** Starts a round after this many milliseconds, unless one starts earlier. */
  wakeUpWithin(ms: number): void {
    if (!this.#isEnded) this.#forgetWake ??= systemClock.after(ms, () => this.wakeUp());
  }

  /** Resolves when the running rounds have ended. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.wakeUp();
    await Promise.all(this.#loops);
  }

  async #loop(act: () => Promise<void>, pauseMs: number, wakes: 'early' | undefined): Promise<void> {
    // Lets the owner's constructor return first.
    await Promise.resolve();
    while (!this.#isEnded) {
      const wakesBefore = this.#wakes;
      try {
        await act();
      } catch (error) {
        this.#logger.error({ why: reasonOf(error) }, 'a worker could not use its journal');
      }
      if (wakes === 'early' && this.#wakes !== wakesBefore) continue;
      await this.#pause(pauseMs, wakes);
    }
  }

  #pause(pauseMs: number, wakes: 'early' | undefined): Promise<void> {
    if (this.#isEnded) return Promise.resolve();
    return new Promise((resolve) => {
      const goOn = (): void => {
        if (wakes === undefined && !this.#isEnded) return;
        forget();
        this.#pauses.delete(goOn);
        resolve();
      };
      const forget = systemClock.after(pauseMs, () => {
        this.#pauses.delete(goOn);
        resolve();
      });
      this.#pauses.add(goOn);
    });
  }
}
