import { ToolError } from '../../errors/tool-error.js';
import { type Limited, TimeLimits } from '../../platform/clock/time-limits.js';

/** How long a journal that does not answer is waited for once the batch was told to stop. */
const STOPPED_MS = 1_000;

/** What all batches of this process wait for. */
const waits = new TimeLimits<Wait>();

interface Wait extends Limited {
  readonly of: Patience;
}

/** What a batch waits for its journal, nothing of it for ever. */
export class Patience {
  #limitMs: number;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /**
   * What `onDone` makes of the end of `work`, or `onFailed` of its error.
   * @param onFailed also gets a ToolError `journal_unavailable`, when `work` takes too long.
   */
  waitFor<T, R>(work: Promise<T>, onDone: (value: T) => R, onFailed: (error: unknown) => R): Promise<R> {
    return new Promise((resolve, reject) => {
      const end = <E>(how: (value: E) => R, value: E): void => {
        waits.end(wait);
        try {
          resolve(how(value));
        } catch (error) {
          reject(error);
        }
      };
      const wait: Wait = { place: -1, of: this, dueAt: 0, over: () => end(onFailed, this.#exhausted()) };
      waits.start(wait, this.#limitMs);
      work.then(
        (value) => end(onDone, value),
        (error: unknown) => end(onFailed, error),
      );
    });
  }

  /** The batch was told to stop: from now on nothing is waited for much longer. */
  hurry(): void {
    this.#limitMs = Math.min(this.#limitMs, STOPPED_MS);
    for (const wait of waits.running) if (wait.of === this) waits.shorten(wait, this.#limitMs);
  }

  #exhausted(): ToolError {
    return new ToolError('journal_unavailable', `The journal did not answer within ${this.#limitMs}ms.`);
  }
}
