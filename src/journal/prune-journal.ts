import type { Pruned, PruneLimits } from '../contract/pruning.js';
import { pause, systemClock } from '../platform/clock/clock.js';
import { sqliteFailure } from '../platform/sqlite/sqlite.js';
import { journalFailure } from './records/journal-errors.js';
import { ENDED_MS } from './records/session-beats.js';
import { sweepBlobs } from './sqlite/blobs.js';
import type { JournalDatabase } from './sqlite/journal-database.js';
import { openJournalDatabase } from './sqlite/open-journal-database.js';
import {
  findLooseRows,
  findRowsOfBatches,
  type PrunableBatch,
  PrunableBatches,
  type RemovableRows,
} from './sqlite/prunable-rows.js';
import { findCommitsOf, sealPrune } from './sqlite/reseal-commits.js';
import { removeSessions } from './sqlite/sessions.js';

interface PruneOptions extends PruneLimits {
  /** The current time in milliseconds since the epoch. */
  readonly at: number;
  /** Batches per transaction, so that other processes can write in between. Default 2,000. */
  readonly atOnce?: number;
}

/**
 * Removes old batches from a journal file, with their calls, and then everything that is no longer referred to. These
 * batches always stay: one with an unfinished call, one that waits for the person, one that
 * answered a later batch, and the newest. A row in the chain records what was removed, so that
 * `verifyJournal` can still verify the rest. Removed calls are forgotten: if one is delivered again, it runs
 * again.
 *
 * @throws ToolError `journal_unavailable` if the file cannot be used, or rows to be removed were tampered
 * with.
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

const BATCHES_AT_ONCE = 2000;
/** The share of the estimate that is used: the oldest batches are not always the smallest. */
const CAUTION = 0.8;
const PATIENCE_MS = 10_000;

class Pruning {
  readonly #database: JournalDatabase;
  readonly #options: PruneOptions;
  #batches = 0;
  #calls = 0;
  #messages = 0;
  #swept = 0;
  /** The number of rows removed. */
  #rows = 0;
  /** The commit at which the search for commits that cover the next rows begins. */
  #commit = 1;
  /** Hashes of blobs to which removed rows referred. */
  readonly #blobs = new Set<string>();

  constructor(database: JournalDatabase, options: PruneOptions) {
    this.#database = database;
    this.#options = options;
  }

  async run(): Promise<Pruned> {
    const { before, maxBytes, dryRun = false, atOnce = BATCHES_AT_ONCE } = this.#options;
    this.#database.prepared('PRAGMA foreign_keys = OFF').run();
    const bytesBefore = this.#bytes();
    if (dryRun) await this.#begin();
    if (before !== undefined) {
      const old = new PrunableBatches(this.#database, before);
      // Blobs are searched only once, at the end, because every row that may refer to one has to be read.
      while ((await this.#takeOut(() => old.take(atOnce))) !== undefined) {}
      await this.#takeOutLoose(before);
      await this.#sweep();
    }
    if (maxBytes !== undefined) {
      const all = new PrunableBatches(this.#database, Number.POSITIVE_INFINITY);
      for (;;) {
        const newest = await this.#takeOut(() => all.take(this.#excess(maxBytes)));
        if (newest === undefined) break;
        await this.#takeOutLoose(before ?? newest.at);
        await this.#sweep();
      }
    }
    if (!dryRun) await this.#write(() => removeSessions(this.#database, this.#options.at - ENDED_MS));
    const bytesAfter = this.#bytes();
    if (dryRun) this.#database.rollback();
    return {
      batches: this.#batches,
      calls: this.#calls,
      messages: this.#messages,
      blobs: this.#swept,
      bytesBefore,
      bytesAfter,
      shrunk: !dryRun && this.#batches + this.#messages > 0 && this.#shrink(),
    };
  }

  /**
   * Removes batches in one transaction. Returns the last of them; undefined if there was nothing to remove.
   */
  async #takeOut(choose: () => readonly PrunableBatch[]): Promise<PrunableBatch | undefined> {
    let chosen: readonly PrunableBatch[] = [];
    await this.#write(() => {
      chosen = choose();
      // Usually the oldest are removed first, in the order in which they were written.
      this.#commit = this.#remove(findRowsOfBatches(this.#database, chosen), this.#commit);
    });
    return chosen.at(-1);
  }

  /** Removes rows that belong to no remaining batch. */
  #takeOutLoose(before: number): Promise<void> {
    return this.#write(() => {
      this.#remove(findLooseRows(this.#database, before), 1);
    });
  }

  /** @param from the commit at which to begin. @returns the first commit that covered one of the rows. */
  #remove(rows: RemovableRows, from: number): number {
    if (rows.count === 0) return from;
    const { dryRun = false, at } = this.#options;
    const { batches, calls, messages } = rows;
    // The commits are verified while their rows are still there.
    const opened = dryRun ? undefined : findCommitsOf(this.#database, rows, from);
    rows.remove();
    if (opened !== undefined) sealPrune(this.#database, opened, { batches, calls, messages }, at);
    this.#rows += rows.count;
    this.#batches += batches;
    this.#calls += calls;
    this.#messages += messages;
    for (const blob of rows.blobs) this.#blobs.add(blob);
    return opened?.runs[0]?.[0] ?? from;
  }

  async #sweep(): Promise<void> {
    if (this.#rows === 0) return;
    await this.#write(() => {
      this.#swept += sweepBlobs(this.#database, this.#blobs);
    });
    this.#blobs.clear();
  }

  async #write(write: () => void): Promise<void> {
    const { dryRun = false } = this.#options;
    if (!dryRun) await this.#begin();
    write();
    if (!dryRun) this.#database.commit();
  }

  /** How many batches have to go, by their size. */
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

  /** Readers and writers have priority: free space in the file is not lost. */
  #shrink(): boolean {
    try {
      this.#database.prepared('VACUUM journal').run();
      this.#database.prepared('PRAGMA journal.wal_checkpoint(TRUNCATE)').all();
      return true;
    } catch (error) {
      // The requested rows are removed all the same.
      if (!['busy', 'full'].includes(sqliteFailure(error))) throw error;
      return false;
    }
  }
}
