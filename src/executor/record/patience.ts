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
   * Hands on the end of `work`, once; neither callback may throw. A promise for each wait would cost more than the wait.
   * @param onFailed also gets a ToolError `journal_unavailable` when `work` takes too long: then it is called from a
   *   timer, in no async context of the caller's.
   */
  waitFor<T>(work: Promise<T>, onDone: (value: T) => void, onFailed: (error: unknown) => void): void {
    const wait: Wait = { place: -1, of: this, dueAt: 0, over: () => onFailed(this.#exhausted()) };
    waits.start(wait, this.#limitMs);
    work.then(
      (value) => {
        if (waits.end(wait)) onDone(value);
      },
      (error: unknown) => {
        if (waits.end(wait)) onFailed(error);
      },
    );
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
