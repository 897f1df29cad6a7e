import type { CallKey } from '../contract/journal.js';
import type { SqliteDatabase, SqliteStatement, SqliteValue } from '../platform/sqlite.js';
import { parseCallKey } from './call-key.js';
import { linkHash } from './link-hash.js';
import { type BufferedTable, insertOne, RowBuffer } from './row-buffer.js';
import { toStoredText } from './stored-text.js';

/** A table whose rows the chain of commits covers. */
export type ChainedTable =
  | 'workers'
  | 'batches'
  | 'calls'
  | 'repeats'
  | 'claims'
  | 'results'
  | 'notes'
  | 'batch_notes'
  | 'messages'
  | 'prunes';

/** Unfinished calls whose number is known without a look into the file. */
const REMEMBERED_CALLS = 10_000;

const LAST_HASH = 'SELECT hash AS head FROM commits ORDER BY number DESC LIMIT 1';
/** The same, and where the next rows go. */
const ENDS = `
  SELECT (SELECT number + size + 1 FROM batches ORDER BY number DESC LIMIT 1) AS next,
    (SELECT hash FROM commits ORDER BY number DESC LIMIT 1) AS head`;

interface Ends {
  next: number;
  /** The hash of the last commit; empty before the first. */
  readonly head: string;
}

/**
 * One open journal file: statements that are prepared once, and transactions that end with a link of the hash chain.
 */
export class JournalDatabase {
  private readonly statements = new Map<string, SqliteStatement>();
  private readonly numbers = new Map<CallKey, number>();
  /** Of the open transaction: which rows it added, what they hold, and the numbers that hold once it is committed. */
  private added = '';
  private content = '';
  private fresh = new Map<CallKey, number>();
  private found = new Map<CallKey, number>();
  /** Processes by their id: this one, as a rule, with every batch. */
  private readonly workers = new Map<string, number>();
  private freshWorkers = new Map<string, number>();
  /** Of the open transaction, once they are asked for: nobody else can write before its end. */
  private ends: Ends | undefined = undefined;
  /** Rows that are not in the file yet, where they are written together. */
  private readonly rows = new RowBuffer((sql) => this.statement(sql));
  private together = false;

  constructor(private readonly sqlite: SqliteDatabase) {}

  /** A statement that finds everything that was added before it. */
  prepared(sql: string): SqliteStatement {
    this.rows.flush();
    return this.statement(sql);
  }

  private statement(sql: string): SqliteStatement {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.sqlite.prepare(sql);
      this.statements.set(sql, statement);
    }
    return statement;
  }

  /**
   * @param writing `together`: `add` puts off what it can, and whether a row was there already shows only with
   *   `flush`; that is much faster, and tells nothing of whose row it was.
   */
  begin(writing: 'together' | 'one by one' = 'one by one'): void {
    this.added = '';
    this.content = '';
    this.clear();
    this.together = writing === 'together';
    this.ends = undefined;
    this.statement('BEGIN IMMEDIATE').run();
  }

  private clear(): void {
    this.rows.clear();
    // Emptying a map that is empty makes a new one.
    for (const map of [this.fresh, this.found, this.freshWorkers]) if (map.size > 0) map.clear();
  }

  /**
   * Adds a row to the file and to the chain; false where there is one already.
   * @param covered what the chain covers of it; default: all of it.
   */
  add(
    table: BufferedTable,
    number: number,
    values: readonly SqliteValue[],
    covered: readonly SqliteValue[] = values,
  ): boolean {
    if (this.together) this.rows.add(table, values);
    else if (this.statement(insertOne(table)).run(...values) === 0) return false;
    this.chain(table, number, covered);
    return true;
  }

  /** @throws an error where a row was there already; the driver's for one that cannot be. */
  flush(): void {
    this.rows.flush();
  }

  /** Says what row was added otherwise, with its values in the order of its columns. */
  chain(table: ChainedTable, number: number, values: readonly SqliteValue[]): void {
    this.added += this.added === '' ? `${table}:${number}` : ` ${table}:${number}`;
    this.content += rowContent(values);
  }

  commit(): void {
    this.flush();
    if (this.added !== '') this.addLink();
    this.statement('COMMIT').run();
    for (const [key, number] of this.fresh) this.remember(key, number);
    for (const [key, number] of this.found) this.remember(key, number);
    for (const [id, number] of this.freshWorkers) this.workers.set(id, number);
    this.clear();
  }

  private addLink(): void {
    const head = this.ends?.head ?? textOf(this.statement(LAST_HASH).get()?.head);
    const hash = linkHash(head, this.added, this.content);
    this.statement('INSERT INTO commits (added, hash) VALUES (?, ?)').run(this.added, hash);
  }

  /** The number of the next batch, and behind it of its calls; taken once the batch is written. */
  nextNumber(): number {
    return this.findEnds().next;
  }

  takeNumbers(calls: number): void {
    this.findEnds().next += calls + 1;
  }

  private findEnds(): Ends {
    if (this.ends === undefined) {
      // Before it is known, no batch can be put off.
      const { next, head } = this.statement(ENDS).get() ?? {};
      this.ends = {
        next: typeof next === 'number' ? next : 1,
        head: textOf(head),
      };
    }
    return this.ends;
  }

  rollback(): void {
    this.clear();
    if (this.sqlite.inTransaction) this.statement('ROLLBACK').run();
  }

  /** Knows the number of a call that the open transaction adds, and remembers it once that is committed. */
  willHold(key: CallKey, number: number): void {
    this.fresh.set(key, number);
  }

  private remember(key: CallKey, number: number): void {
    this.numbers.set(key, number);
    if (this.numbers.size <= REMEMBERED_CALLS) return;
    const oldest = this.numbers.keys().next();
    if (oldest.done !== true) this.numbers.delete(oldest.value);
  }

  /** The number of a key's call; undefined for a key that this journal never gave out. */
  numberOf(key: CallKey): number | undefined {
    return this.fresh.get(key) ?? this.numbers.get(key) ?? this.found.get(key) ?? this.lookUp(key);
  }

  /** How many calls this process has begun and not finished, as far as they are remembered. */
  get unfinished(): number {
    return this.numbers.size;
  }

  /** Whether the open transaction itself has added this call, and no result yet. */
  isFresh(key: CallKey): boolean {
    return this.fresh.has(key);
  }

  /** A finished call's number is hardly ever asked for again. */
  forget(key: CallKey): void {
    this.numbers.delete(key);
    this.fresh.delete(key);
    this.found.delete(key);
  }

  numberOfWorker(id: string): number | undefined {
    return this.workers.get(id) ?? this.freshWorkers.get(id);
  }

  willHoldWorker(id: string, number: number): void {
    this.freshWorkers.set(id, number);
  }

  private lookUp(key: CallKey): number | undefined {
    const parsed = parseCallKey(key);
    if (parsed === undefined) return undefined;
    const row = this.prepared(
      'SELECT c.number FROM batches b JOIN calls c ON c.number = b.number + 1 + ? AND c.batch = b.number WHERE b.id = ?',
    ).get(parsed.index, toStoredText(parsed.batchId));
    if (row === undefined) return undefined;
    const number = Number(row.number);
    // Not before the commit: the row that was found may be one of this transaction, and go again with it.
    this.found.set(key, number);
    return number;
  }

  close(): void {
    this.sqlite.close();
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * A row as the chain covers it. No text of ours holds a NUL and no text that may be null is ever empty, so together
 * with the table's name this tells all rows apart.
 */
export function rowContent(values: readonly unknown[]): string {
  return `${values.join('\0')}\0`;
}
