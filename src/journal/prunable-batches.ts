import type { JournalDatabase } from './journal-database.js';
import { JournalRow } from './journal-row.js';

/** A batch that nothing needs any more. Its deliveries have the numbers behind its own. */
export interface PrunableBatch {
  readonly number: number;
  readonly size: number;
  readonly at: number;
}

/** Settled for good, nobody has to decide about it, and not the newest, from which numbers go on. */
const SETTLED = `
  SELECT b.number, b.size, b.accepted_at FROM batches b
  WHERE b.accepted_at < ?1 AND b.number < (SELECT max(number) FROM batches)
    AND NOT EXISTS (SELECT 1 FROM unfinished u WHERE u.call > b.number AND u.call <= b.number + b.size)
    AND NOT EXISTS (SELECT 1 FROM decided d WHERE d.batch = b.number AND d.kind = 'wait')
    AND NOT EXISTS (
      SELECT 1 FROM results r WHERE r.call > b.number AND r.call <= b.number + b.size AND r.finished_at >= ?1)
  ORDER BY b.number`;

const REPEATS = 'SELECT number, call FROM repeats WHERE number > ? ORDER BY number';

/**
 * The batches that were delivered and settled before a time, oldest first. What is settled stays so; but a delivery may
 * attach to one at any time, so that is looked at again in every transaction.
 */
export class PrunableBatches {
  readonly #database: JournalDatabase;
  /** In order of their numbers. */
  readonly #batches: readonly PrunableBatch[];
  readonly #gone = new Set<PrunableBatch>();
  /** What each batch's calls were delivered again with; undefined stands for a batch that stays. */
  readonly #attached: Attached = new Map();
  #lastRepeat = 0;
  #next = 0;

  constructor(database: JournalDatabase, before: number) {
    this.#database = database;
    this.#batches = database.prepared(SETTLED).all(before).map(toBatch);
  }

  /**
   * The next ones to take out, at least so many where there are. A batch goes together with those that were attached
   * to it, or not at all.
   */
  take(count: number): readonly PrunableBatch[] {
    this.#readAttached();
    const taken = new Set<PrunableBatch>();
    for (; taken.size < count; this.#next++) {
      const batch = this.#batches[this.#next];
      if (batch === undefined) break;
      const together = this.#gone.has(batch) ? undefined : withAttached(batch, this.#attached);
      for (const each of together ?? []) if (!this.#gone.has(each)) taken.add(each);
    }
    for (const batch of taken) this.#gone.add(batch);
    return [...taken].sort((a, b) => a.number - b.number);
  }

  /** Those that came since the last look. */
  #readAttached(): void {
    for (const values of this.#database.prepared(REPEATS).all(this.#lastRepeat)) {
      const row = new JournalRow(values);
      this.#lastRepeat = row.number('number');
      const holder = this.#holderOf(row.number('call'));
      if (holder === undefined) continue;
      const repeating = this.#holderOf(this.#lastRepeat);
      const known = this.#attached.get(holder);
      if (known === undefined) this.#attached.set(holder, new Set([repeating]));
      else known.add(repeating);
    }
  }

  /** The batch that a delivery's number belongs to. */
  #holderOf(number: number): PrunableBatch | undefined {
    let low = 0;
    let high = this.#batches.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const batch = this.#batches[middle];
      if (batch === undefined) return undefined;
      if (number <= batch.number) high = middle - 1;
      else if (number > batch.number + batch.size) low = middle + 1;
      else return batch;
    }
    return undefined;
  }
}

type Attached = Map<PrunableBatch, Set<PrunableBatch | undefined>>;

function withAttached(batch: PrunableBatch, attached: Attached): ReadonlySet<PrunableBatch> | undefined {
  const together = new Set([batch]);
  // A set that grows is walked to its end.
  for (const each of together) {
    for (const repeating of attached.get(each) ?? []) {
      if (repeating === undefined) return undefined;
      together.add(repeating);
    }
  }
  return together;
}

function toBatch(values: Readonly<Record<string, unknown>>): PrunableBatch {
  const row = new JournalRow(values);
  return { number: row.number('number'), size: row.number('size'), at: row.number('accepted_at') };
}
