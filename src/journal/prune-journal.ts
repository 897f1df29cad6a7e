import { systemClock } from '../platform/clock.js';
import { pause } from '../platform/pause.js';
import { sqliteFailure } from '../platform/sqlite-failure.js';
import type { JournalDatabase } from './journal-database.js';
import { journalFailure } from './journal-failure.js';
import { openJournalDatabase } from './open-journal-database.js';
import { type PrunableBatch, PrunableBatches } from './prunable-batches.js';
import { type RemovedRows, removeBatches } from './remove-batches.js';
import { findCommitsOf, sealPrune } from './reseal-commits.js';
import { sweepBlobs } from './sweep-blobs.js';

export interface PruneOptions {
  /** Takes out what was settled before this time; milliseconds since the epoch. */
  readonly before?: number;
  /** Takes out the oldest until the journal's content has at most so many bytes. */
  readonly maxBytes?: number;
  /** Says what would go, and takes out nothing. Default false. */
  readonly dryRun?: boolean;
  /** Now; milliseconds since the epoch. */
  readonly at: number;
}

export interface Pruned {
  readonly batches: number;
  readonly calls: number;
  readonly messages: number;
  /** Of everything in the file, without the room that is free in it. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Whether the file gave the room back; false: it is used for what comes next. */
  readonly shrunk: boolean;
}

/**
 * Takes old batches out of a journal's file, with their calls, and what nothing refers to after that. Never a batch
 * with a call that is not settled, one that waits for the person, one that a later batch was answered from, or the
 * newest. A row in the chain says what was taken out, so that `verifyJournal` still vouches for the rest. What is gone
 * is forgotten: a call of it that is delivered again runs again.
 *
 * @throws ToolError `journal_unavailable` when the file cannot be used, or what goes was tampered with.
 */
export async function pruneJournal(path: string, options: PruneOptions): Promise<Pruned> {
  try {
    const database = openJournalDatabase(path);
    try {
      return await new Pruning(database, options).run();
    } finally {
      database.rollback();
      database.close();
    }
  } catch (error) {
    throw journalFailure(path, error);
  }
}

/** Batches of one transaction: others want to write as well. */
const BATCHES_AT_ONCE = 2000;
/** Of what the sizes suggest: the oldest are not always the smallest. */
const CAUTION = 0.8;
const PATIENCE_MS = 10_000;

class Pruning {
  readonly #database: JournalDatabase;
  readonly #options: PruneOptions;
  #batches = 0;
  #calls = 0;
  #messages = 0;
  /** Of everything that was taken out. */
  #rows = 0;
  /** Hashes that what was taken out has referred to. */
  readonly #blobs = new Set<string>();

  constructor(database: JournalDatabase, options: PruneOptions) {
    this.#database = database;
    this.#options = options;
  }

  async run(): Promise<Pruned> {
    const { before, maxBytes, dryRun = false } = this.#options;
    this.#database.prepared('PRAGMA foreign_keys = OFF').run();
    const bytesBefore = this.#bytes();
    if (dryRun) await this.#begin();
    if (before !== undefined) {
      const old = new PrunableBatches(this.#database, before);
      // Contents are looked for once, at the end: that takes a look at everything that may refer to one.
      while (await this.#round(() => old.take(BATCHES_AT_ONCE), 'later')) {}
      await this.#sweep();
    }
    if (maxBytes !== undefined) {
      const all = new PrunableBatches(this.#database, Number.POSITIVE_INFINITY);
      while (await this.#round(() => all.take(this.#excess(maxBytes)), 'at once')) {}
    }
    const bytesAfter = this.#bytes();
    if (dryRun) this.#database.rollback();
    return {
      batches: this.#batches,
      calls: this.#calls,
      messages: this.#messages,
      bytesBefore,
      bytesAfter,
      shrunk: !dryRun && this.#batches + this.#messages > 0 && this.#shrink(),
    };
  }

  /** One transaction. False when there was nothing more to do. */
  async #round(choose: () => readonly PrunableBatch[], sweep: 'at once' | 'later'): Promise<boolean> {
    const { dryRun = false, at } = this.#options;
    const database = this.#database;
    if (!dryRun) await this.#begin();
    const batches = choose();
    const before = this.#options.before ?? batches.at(-1)?.at ?? 0;
    database.prepared('SAVEPOINT looked').run();
    let removed = removeBatches(database, batches, before);
    const { batches: gone, calls, messages } = removed;
    if (removed.names.size > 0 && !dryRun) removed = this.#reseal(removed, batches, before, at);
    this.#rows += removed.names.size;
    for (const blob of removed.blobs) this.#blobs.add(blob);
    if (removed.names.size > 0 && sweep === 'at once') this.#sweepNow();
    if (!dryRun) database.commit();
    this.#batches += gone;
    this.#calls += calls;
    this.#messages += messages;
    return gone > 0;
  }

  async #sweep(): Promise<void> {
    const { dryRun = false } = this.#options;
    if (this.#rows === 0) return;
    if (!dryRun) await this.#begin();
    this.#sweepNow();
    if (!dryRun) this.#database.commit();
  }

  #sweepNow(): void {
    sweepBlobs(this.#database, this.#blobs);
    this.#blobs.clear();
  }

  /** The commits are checked with their rows in place. */
  #reseal(
    { names }: RemovedRows,
    batches: readonly PrunableBatch[],
    before: number,
    at: number,
  ): RemovedRows {
    const database = this.#database;
    database.prepared('ROLLBACK TO looked').run();
    const opened = findCommitsOf(database, names);
    const removed = removeBatches(database, batches, before);
    const { calls, messages } = removed;
    sealPrune(database, opened, { batches: batches.length, calls, messages }, at);
    return removed;
  }

  /** How many batches are too many, going by their size. */
  #excess(maxBytes: number): number {
    const bytes = this.#bytes();
    if (bytes <= maxBytes) return 0;
    const count = Number(this.#database.prepared('SELECT count(*) AS count FROM batches').get()?.count);
    const share = Math.floor((count * (bytes - maxBytes) * CAUTION) / bytes);
    return Math.min(Math.max(1, share), BATCHES_AT_ONCE);
  }

  #bytes(): number {
    const number = (pragma: string): number =>
      Number(Object.values(this.#database.prepared(`PRAGMA journal.${pragma}`).get() ?? {})[0]);
    return (number('page_count') - number('freelist_count')) * number('page_size');
  }

  async #begin(): Promise<void> {
    const since = systemClock.monotonic();
    for (;;) {
      try {
        this.#database.begin();
        return;
      } catch (error) {
        if (sqliteFailure(error) !== 'busy' || systemClock.monotonic() - since > PATIENCE_MS) throw error;
        await pause(5);
      }
    }
  }

  /** Readers and writers go first: what is free in the file is not lost. */
  #shrink(): boolean {
    try {
      this.#database.prepared('VACUUM journal').run();
      this.#database.prepared('PRAGMA journal.wal_checkpoint(TRUNCATE)').all();
      return true;
    } catch (error) {
      // The rows are gone for good, and that is what was asked for.
      if (!['busy', 'full'].includes(sqliteFailure(error))) throw error;
      return false;
    }
  }
}
