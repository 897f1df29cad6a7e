import type { SqliteValue } from '../../platform/sqlite/sqlite.js';
import { CONTENT_MARK, contentHashes } from '../records/stored-content.js';
import type { ChainedTable } from './chain.js';
import { parseRowName } from './chained-rows.js';
import { PRUNABLE_FACTS } from './conversation-facts.js';
import type { JournalDatabase } from './journal-database.js';
import { JournalRow } from './journal-row.js';

/**
 * Rows that can be removed. They are still in the file, because the commits that cover them are verified
 * first.
 */
export interface RemovableRows {
  readonly batches: number;
  readonly calls: number;
  readonly messages: number;
  /** The number of rows. */
  readonly count: number;
  /** Hashes of blobs that they refer to. */
  readonly blobs: ReadonlySet<string>;
  /** Whether it contains a row, by the row's name in a commit: `c12`. */
  has(name: string): boolean;
  /** Foreign keys must be off: they would search every row for references that are already known. */
  remove(): void;
}

/** Tables whose rows have the number of a batch or delivery, with that column. */
const BY_DELIVERY: readonly (readonly [table: ChainedTable, column: string])[] = [
  ['results', 'call'],
  ['claims', 'call'],
  ['repeats', 'number'],
  ['calls', 'number'],
  ['batches', 'number'],
];
/** Tables whose rows have their own number, with the column that names their owner. */
const NOTES: readonly (readonly [table: ChainedTable, column: string])[] = [
  ['notes', 'call'],
  ['batch_notes', 'batch'],
];
const DELIVERED: ReadonlySet<ChainedTable | undefined> = new Set(BY_DELIVERY.map(([table]) => table));

/**
 * A range of consecutive batches: the number of the first, and the number of the last delivery of the last.
 */
type Run = readonly [first: number, last: number];

/** Finds batches with all rows that belong to them. */
export function findRowsOfBatches(
  database: JournalDatabase,
  batches: readonly PrunableBatch[],
): RemovableRows {
  const runs = toRuns(batches);
  const blobs = new Set<string>();
  const notes = new Map<ChainedTable | undefined, Set<number>>(NOTES.map(([table]) => [table, new Set()]));
  const counts = new Map<ChainedTable, number>();
  for (const run of runs) {
    for (const [table, column] of BY_DELIVERY) {
      const counted = database.prepared(`SELECT count(*) AS count FROM ${table} WHERE ${within(column)}`);
      counts.set(table, (counts.get(table) ?? 0) + Number(counted.get(...run)?.count));
    }
    for (const [table, column] of NOTES) {
      const found = database
        .prepared(`SELECT number, blob FROM ${table} WHERE ${within(column)}`)
        .all(...run);
      for (const { number, blob } of found) {
        notes.get(table)?.add(Number(number));
        if (typeof blob === 'string') blobs.add(blob);
      }
    }
    for (const hash of contentsOfResults(database, run)) blobs.add(hash);
  }
  const owned = [...notes.values()].reduce((sum, { size }) => sum + size, 0);
  return {
    batches: batches.length,
    calls: counts.get('calls') ?? 0,
    messages: 0,
    count: [...counts.values()].reduce((sum, count) => sum + count, owned),
    blobs,
    has(name) {
      const { table, number } = parseRowName(name);
      return DELIVERED.has(table) ? isWithin(runs, number) : notes.get(table)?.has(number) === true;
    },
    remove() {
      for (const run of runs) {
        for (const [table, column] of [
          ...NOTES,
          ...BY_DELIVERY,
          ['decided', 'batch'],
          ['session_claims', 'call'],
        ]) {
          database.prepared(`DELETE FROM ${table} WHERE ${within(String(column))}`).run(...run);
        }
      }
    },
  };
}

const MESSAGES = `
  SELECT number, blob FROM messages
  WHERE sent_at < ? AND NOT EXISTS (SELECT 1 FROM batches b WHERE b.conversation = messages.conversation)`;
const FACTS = `SELECT number FROM facts WHERE ${PRUNABLE_FACTS}`;

/**
 * Finds messages, older than a time, of conversations that have no batch left, and facts from before that
 * time that no longer apply.
 */
export function findLooseRows(database: JournalDatabase, before: number): RemovableRows {
  const messages = database.prepared(MESSAGES).all(before);
  const facts = database.prepared(FACTS).all(before);
  const numbers = {
    messages: new Set(messages.map(({ number }) => Number(number))),
    facts: new Set(facts.map(({ number }) => Number(number))),
  };
  return {
    batches: 0,
    calls: 0,
    messages: messages.length,
    count: messages.length + facts.length,
    blobs: new Set(messages.flatMap(({ blob }) => (typeof blob === 'string' ? [blob] : []))),
    has(name) {
      const { table, number } = parseRowName(name);
      return (table === 'messages' || table === 'facts') && numbers[table].has(number);
    },
    remove() {
      for (const table of ['messages', 'facts'] as const) {
        const statement = database.prepared(`DELETE FROM ${table} WHERE number = ?`);
        for (const number of numbers[table]) statement.run(number);
      }
    },
  };
}

const WITH_CONTENT = `
  SELECT r.result, r.blob, x.content FROM results r
  LEFT JOIN blobs x ON x.hash = r.blob AND instr(x.content, CAST(?3 AS BLOB)) > 0
  WHERE r.call >= ?1 AND r.call <= ?2 AND (r.blob IS NOT NULL OR instr(r.result, ?3) > 0)`;

/** The hashes of long results, and of bytes that a result refers to. */
function contentsOfResults(database: JournalDatabase, run: Run): readonly string[] {
  const values: readonly SqliteValue[] = [...run, CONTENT_MARK];
  return database
    .prepared(WITH_CONTENT)
    .all(...values)
    .flatMap((found) => {
      const row = new JournalRow(found);
      const blob = row.has('blob') ? [row.rawText('blob')] : [];
      const isNamed = row.has('result') || row.has('content');
      return isNamed ? [...blob, ...contentHashes(row.longText('result'))] : blob;
    });
}

function within(column: string): string {
  return `${column} >= ? AND ${column} <= ?`;
}

function isWithin(runs: readonly Run[], number: number): boolean {
  let low = 0;
  let high = runs.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = runs[middle] ?? [0, 0];
    if (number < first) high = middle - 1;
    else if (number > last) low = middle + 1;
    else return true;
  }
  return false;
}

/** Batches and deliveries share one sequence of numbers, so consecutive batches are removed together. */
function toRuns(batches: readonly PrunableBatch[]): readonly Run[] {
  const runs: [number, number][] = [];
  for (const { number, size } of batches) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === number - 1) run[1] = number + size;
    else runs.push([number, number + size]);
  }
  return runs;
}

/** A batch that is no longer needed. Its deliveries have the numbers after its own. */
export interface PrunableBatch {
  readonly number: number;
  readonly size: number;
  readonly at: number;
}

/** Finished, without an open decision, and not the newest, from which the numbering continues. */
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
 * The batches that were delivered and finished before a time, oldest first. A finished batch stays finished,
 * but a delivery may attach to one at any time, so that is checked again in every transaction.
 */
export class PrunableBatches {
  readonly #database: JournalDatabase;
  /** In the order of their numbers. */
  readonly #batches: readonly PrunableBatch[];
  readonly #gone = new Set<PrunableBatch>();
  /** The deliveries that repeat calls of each batch; undefined for a batch that has to stay. */
  readonly #attached: Attached = new Map();
  #lastRepeat = 0;
  #next = 0;

  constructor(database: JournalDatabase, before: number) {
    this.#database = database;
    this.#batches = database.prepared(SETTLED).all(before).map(toBatch);
  }

  /**
   * The next batches to remove, at least the given number if there are enough. A batch is removed together with
   * those attached to it, or not at all.
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

  /** Reads the deliveries that arrived since the last call. */
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

  /** The batch to which a delivery belongs, by its number. */
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
  // Iterating over a set that grows covers the added members too.
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
