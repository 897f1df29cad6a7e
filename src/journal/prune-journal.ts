import { pause, systemClock } from '../platform/clock/clock.js';
import { sqliteFailure } from '../platform/sqlite/sqlite.js';
import { journalFailure } from './records/journal-errors.js';
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

interface PruneOptions {
  /** Takes out what was settled before this time; milliseconds since the epoch. */
  readonly before?: number;
  /** Takes out the oldest until the journal's content has at most so many bytes. */
  readonly maxBytes?: number;
  /** Says what would go, and takes out nothing. Default false. */
  readonly dryRun?: boolean;
  /** Now; milliseconds since the epoch. */
  readonly at: number;
  /** Batches of one transaction: others want to write as well. Default 2,000. */
  readonly atOnce?: number;
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
  /** The commit from which on those are looked for that cover what goes next. */
  #commit = 1;
  /** Hashes that what was taken out has referred to. */
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
      // Contents are looked for once, at the end: that takes a look at everything that may refer to one.
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

  /** One transaction. The last of the batches; undefined: there was nothing more to do. */
  async #takeOut(choose: () => readonly PrunableBatch[]): Promise<PrunableBatch | undefined> {
    let chosen: readonly PrunableBatch[] = [];
    await this.#write(() => {
      chosen = choose();
      // The oldest go first, in the order in which they were written, as a rule.
      this.#commit = this.#remove(findRowsOfBatches(this.#database, chosen), this.#commit);
    });
    return chosen.at(-1);
  }

  /** What belongs to no batch that is left. */
  #takeOutLoose(before: number): Promise<void> {
    return this.#write(() => {
      this.#remove(findLooseRows(this.#database, before), 1);
    });
  }

  /** @param from the commit to begin looking with. @returns the first that covered one of the rows. */
  #remove(rows: RemovableRows, from: number): number {
    if (rows.count === 0) return from;
    const { dryRun = false, at } = this.#options;
    const { batches, calls, messages } = rows;
    // The commits are checked with their rows in place.
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
      sweepBlobs(this.#database, this.#blobs);
    });
    this.#blobs.clear();
  }

  async #write(write: () => void): Promise<void> {
    const { dryRun = false } = this.#options;
    if (!dryRun) await this.#begin();
    write();
    if (!dryRun) this.#database.commit();
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
