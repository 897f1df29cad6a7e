import { ToolError } from '../../errors/tool-error.js';
import { type Limited, TimeLimits } from '../../platform/clock/time-limits.js';

/** How long a stopped batch waits for a journal that does not answer. */
const STOPPED_MS = 1_000;

/** The waits of all batches in this process share one timer. */
const waits = new TimeLimits<Wait>();

interface Wait extends Limited {
  readonly of: JournalDeadline;
}

/** Bounds how long a batch waits for its journal. */
export class JournalDeadline {
  #limitMs: number;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Returns the outcome of `work`. @throws ToolError `journal_unavailable` if `work` takes too long */
  within<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const wait: Wait = { of: this, dueAt: 0, over: () => reject(this.#exceeded()) };
      waits.start(wait, this.#limitMs);
      work.then(resolve, reject).finally(() => waits.end(wait));
    });
  }

  /** Shortens all waits, because the batch was stopped. */
  hurry(): void {
    this.#limitMs = Math.min(this.#limitMs, STOPPED_MS);
    for (const wait of waits.running) if (wait.of === this) waits.shorten(wait, this.#limitMs);
  }

  #exceeded(): ToolError {
    return new ToolError('journal_unavailable', `The journal did not answer within ${this.#limitMs}ms.`);
  }
}
