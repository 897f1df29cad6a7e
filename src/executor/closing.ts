import type { Journal } from '../contract/journal.js';
import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import { toReason } from './answer/stopped.js';
import { unrecordedResultsOf } from './record/unrecorded-results.js';

/** How long the executor retries to record results that could not be recorded, in milliseconds. */
const LAST_TRY_MS = 2_000;

/** Tries one last time to write results that could not be recorded. */
export async function closeRecords(journal: Journal): Promise<void> {
  const unrecorded = unrecordedResultsOf(journal);
  if (unrecorded.size === 0) return;
  let forget = (): void => {};
  const late = new Promise<void>((resolve) => {
    forget = systemClock.after(LAST_TRY_MS, resolve);
  });
  await Promise.race([unrecorded.flush(), late]);
  forget();
  unrecorded.end();
}

/** Undos and open questions: `close` ends questions, and waits for both. */
export class UnfinishedWork {
  readonly #work = new Set<Promise<unknown>>();
  readonly #ending = new AbortController();

  /** Aborts when the executor is closed. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  add<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    return work.finally(() => this.#work.delete(work));
  }

  async end(): Promise<void> {
    this.#ending.abort(toReason({ cause: 'closed' }));
    await Promise.allSettled(this.#work);
  }
}

export interface Closable {
  close(): Promise<void> | void;
}

/** How long one part of an executor may take to close, in milliseconds. */
const CLOSING_MS = 10_000;

/**
 * Closes every part, in order, even if an earlier one fails or never ends.
 * @throws the first failure; ToolError `execution_failed` for a part that does not end in time.
 */
export async function closeAll(parts: readonly Closable[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of parts) {
    let forget = (): void => {};
    const late = new Promise<never>((_, reject) => {
      forget = systemClock.after(CLOSING_MS, () =>
        reject(
          new ToolError('execution_failed', `A part of the executor did not close within ${CLOSING_MS}ms.`),
        ),
      );
    });
    try {
      await Promise.race([part.close(), late]);
    } catch (error) {
      failures.push(error);
    } finally {
      forget();
    }
  }
  if (failures.length > 0) throw failures[0];
}
