import type { ToolResult } from '../../contract/call.js';
import type { CallKey, Claimant, Journal } from '../../contract/journal.js';
import { idleClock } from '../../platform/clock/clock.js';

/** Pauses between attempts to write, in milliseconds. Each pause is twice as long as the one before. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

interface Unrecorded {
  readonly result: ToolResult;
  readonly at: number;
  readonly claimant: Claimant;
}

/**
 * Answers that were given but could not be recorded. They are written as soon as the journal works again.
 * Until then, a second delivery of the call gets its answer from here.
 */
export class UnrecordedResults {
  readonly #journal: Journal;
  readonly #results = new Map<CallKey, Unrecorded>();
  #flushing: Promise<void> | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #forgetTimer: (() => void) | undefined;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  get size(): number {
    return this.#results.size;
  }

  of(key: CallKey): ToolResult | undefined {
    const known = this.#results.get(key);
    // A worker may be running the call.
    return known?.claimant === 'queued' ? undefined : known?.result;
  }

  add(key: CallKey, result: ToolResult, at: number, claimant: Claimant): void {
    this.#results.set(key, { result, at, claimant });
    this.#tryLater();
  }

  /** Tries once to write all answers. Never rejects. */
  flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined;
      if (this.#results.size > 0) this.#tryLater();
      else this.#pauseMs = FIRST_PAUSE_MS;
    });
    return this.#flushing;
  }

  /** Stops trying. Recovery handles the remaining answers. */
  end(): void {
    this.#forgetTimer?.();
    this.#forgetTimer = undefined;
  }

  async #write(): Promise<void> {
    for (const [key, { result, at, claimant }] of [...this.#results]) {
      try {
        await this.#journal.finish(key, result, at, claimant);
        this.#results.delete(key);
      } catch {
        // If the journal does not know the call, its batch could not be recorded, and there is no record to
        // complete. In any other case the journal still fails, and would fail for every other answer.
        if (!(await this.#isUnknown(key))) return;
        this.#results.delete(key);
      }
    }
  }

  async #isUnknown(key: CallKey): Promise<boolean> {
    try {
      return (await this.#journal.call(key)) === undefined;
    } catch {
      return false;
    }
  }

  #tryLater(): void {
    if (this.#forgetTimer !== undefined) return;
    // This timer does not keep an otherwise idle program alive.
    this.#forgetTimer = idleClock.after(this.#pauseMs, () => {
      this.#forgetTimer = undefined;
      void this.flush();
    });
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }
}

const unrecorded = new WeakMap<Journal, UnrecordedResults>();

/** The unrecorded answers of all executors that share this journal. */
export function unrecordedResultsOf(journal: Journal): UnrecordedResults {
  let results = unrecorded.get(journal);
  if (results === undefined) {
    results = new UnrecordedResults(journal);
    unrecorded.set(journal, results);
  }
  return results;
}
