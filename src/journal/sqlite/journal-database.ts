import type { CallKey } from '../../contract/journal.js';
import type { SqliteDatabase, SqliteStatement, SqliteValue } from '../../platform/sqlite/sqlite.js';
import { sqliteFailure } from '../../platform/sqlite/sqlite.js';
import { parseCallKey } from '../records/call-key.js';
import { toStoredText } from '../records/stored-text.js';
import { CallNumbers } from './call-numbers.js';
import {
  type ChainedTable,
  type Ends,
  EndsHaveMoved,
  linkHash,
  readEnds,
  rowContent,
  rowName,
} from './chain.js';
import type { Head, JournalWatch } from './journal-anchor.js';
import { type BufferedTable, insertOne, RowBuffer, toOneStatement, VIEWS } from './row-buffer.js';

const ADD_LINK = 'INSERT INTO commits (number, added, hash) VALUES (?, ?, ?)';

/** `later`: with the next commit that is synced. */
export type Durability = 'now' | 'later';

/** The parts of an open journal besides its database. */
interface JournalContext {
  readonly watch?: JournalWatch;
  /** Called once everything is closed. */
  readonly onClosed?: () => void;
}

/**
 * One open journal file: statements that are prepared once, and transactions that each add a link to the hash chain.
 */
export class JournalDatabase {
  private readonly statements = new Map<string, SqliteStatement>();
  private readonly numbers = new CallNumbers();
  /** The rows that the open transaction added, with the digests of their contents. */
  private added = '';
  private content = '';
  /** Workers by their id: usually only this process, with every batch. */
  private readonly workers = new Map<string, number>();
  private freshWorkers = new Map<string, number>();
  /** The ends in the open transaction, once they have been read. */
  private ends: Ends | undefined = undefined;
  /** As the last transaction left them. Another process may have moved them since. */
  private last: Ends | undefined = undefined;
  /** Rows that are not in the file yet and are written together. */
  private readonly rows = new RowBuffer((sql) => this.statement(sql));
  private others: { readonly commit: number; readonly of: string; readonly value: unknown } | undefined =
    undefined;
  private together = false;
  /** When the open transaction becomes durable, and when the last committed one did. */
  private durable: Durability = 'now';
  private isOwed = false;
  /** The value last set in SQLite. */
  private synced: Durability = 'now';
  private stage: 'none' | 'put off' | 'begun' = 'none';
  private hasViews = false;

  /** @param around the parts that belong to the file; left out for a file that no other process knows. */
  constructor(
    private readonly sqlite: SqliteDatabase,
    private readonly around: JournalContext = {},
  ) {}

  /** A statement that sees all rows added before it. */
  prepared(sql: string): SqliteStatement {
    if (this.stage === 'put off') this.start();
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
   * @param writing `together`: `add` defers its writes, even BEGIN, and only `flush` reports that a row
   * existed already. That is much faster, but does not say which row it was.
   * @param durable `later`: the commit is not synced, and becomes durable with the next one that is
   */
  begin(writing: 'together' | 'one by one' = 'one by one', durable: Durability = 'now'): void {
    this.durable = durable;
    if (this.synced !== durable) {
      this.sqlite.exec(`PRAGMA journal.synchronous = ${durable === 'now' ? 'FULL' : 'NORMAL'}`);
      this.synced = durable;
    }
    this.added = '';
    this.content = '';
    this.clear();
    this.ends = undefined;
    this.together = writing === 'together';
    this.stage = 'put off';
    if (!this.together) this.start();
  }

  /**
   * From here on no other process can write. @throws EndsHaveMoved if one has written since `ends` was read
   */
  private start(): void {
    this.statement('BEGIN IMMEDIATE').run();
    this.stage = 'begun';
    if (this.ends !== undefined && this.readEnds().commit !== this.ends.commit) throw new EndsHaveMoved();
  }

  private clear(): void {
    this.rows.clear();
    this.numbers.rollback();
    if (this.freshWorkers.size > 0) this.freshWorkers.clear();
  }

  /**
   * Adds a row to the file and to the chain; false if it exists already.
   * @param covered the part that the chain covers; default: all of it
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

  /**
   * Writes the deferred rows; rows that fit into one statement are committed with it.
   * @throws EndsHaveMoved; an error if a row existed already; the driver's error if a row cannot be written
   */
  flush(): void {
    if (this.rows.isEmpty || this.writeAtOnce()) return;
    if (this.stage === 'put off') this.start();
    this.rows.flush();
  }

  private writeAtOnce(): boolean {
    const isReady = this.stage === 'put off' && this.last !== undefined;
    const rows = isReady ? toOneStatement(this.rows.rows) : undefined;
    if (rows === undefined) return false;
    const ends = this.nextEnds();
    try {
      if (!this.hasViews) this.sqlite.exec(VIEWS);
      this.hasViews = true;
      this.statement(rows.sql).run(...rows.values, ends.commit, this.added, ends.head);
    } catch (error) {
      if (sqliteFailure(error) !== 'statement') throw error;
      // The caller then writes each row separately, which shows the cause: one of the rows, or a write of another
      // process.
      return false;
    }
    this.rows.clear();
    this.ends = ends;
    this.stage = 'none';
    return true;
  }

  /** Adds a row to the chain that was written to the file in another way, with its values in column order. */
  chain(table: ChainedTable, number: number, values: readonly SqliteValue[]): void {
    this.cover(rowName(table, number), rowContent(values));
  }

  /** The same for a row that is already in the file, by its name in a commit. */
  cover(name: string, content: string): void {
    this.added += this.added === '' ? name : ` ${name}`;
    this.content += content;
  }

  /** @throws ToolError `journal_unavailable` if the file was removed or replaced in the meantime */
  commit(): void {
    this.flush();
    if (this.stage === 'begun') {
      if (this.added !== '') this.addLink();
      this.statement('COMMIT').run();
    }
    this.stage = 'none';
    this.moveOthers();
    this.last = this.ends ?? this.last;
    this.numbers.commit();
    for (const [id, number] of this.freshWorkers) this.workers.set(id, number);
    this.clear();
    const { watch } = this.around;
    if (watch !== undefined && this.added !== '' && this.last !== undefined) {
      this.isOwed = this.durable === 'later';
      watch.committed(this.last.commit, this.last.head, this.durable);
    }
  }

  /** Makes every commit durable. @throws the operating system's error */
  sync(): void {
    const { watch } = this.around;
    if (!this.isOwed || watch === undefined || this.last === undefined) return;
    watch.sync(this.last.commit, this.last.head);
    this.isOwed = false;
  }

  /** Our own commit does not change the rows of others. */
  private moveOthers(): void {
    const { others, ends } = this;
    if (others !== undefined && ends !== undefined && others.commit === ends.commit - 1)
      this.others = { ...others, commit: ends.commit };
  }

  /** Where the chain of commits ends. */
  head(): Head {
    const { commit, head } = this.readEnds();
    return { commit, hash: head };
  }

  /** Accepts the loss of records: the journal continues from its current state. */
  acceptLoss(): void {
    this.around.watch?.accept(this.head());
  }

  /** Call it after the journal's mode was changed: the write-ahead log is then another file. */
  logRenewed(): void {
    this.around.watch?.logRenewed();
  }

  /**
   * A value that `find` computes from the writes of other processes. It is computed again only after one of them has
   * written.
   */
  fromOthers<T>(of: string, find: () => T): T {
    const { commit } = this.findEnds();
    if (this.others?.commit !== commit || this.others.of !== of) this.others = { commit, of, value: find() };
    // The only caller of a kind of value gets its own kind back.
    return this.others.value as T;
  }

  /** Call it with a change by this process that affects the result of `find`. */
  forgetOthers(): void {
    this.others = undefined;
  }

  /** The number of the next batch, followed by those of its calls; reserved once the batch is written. */
  nextNumber(): number {
    return this.findEnds().next;
  }

  takeNumbers(calls: number): void {
    const { commit, head, next } = this.findEnds();
    this.ends = { commit, head, next: next + calls + 1 };
  }

  private findEnds(): Ends {
    if (this.stage === 'put off' && this.last === undefined) this.start();
    // Before BEGIN it is a guess, which is later compared with the file.
    this.ends ??= (this.stage === 'put off' ? this.last : undefined) ?? this.readEnds();
    return this.ends;
  }

  private readEnds(): Ends {
    return readEnds((sql) => this.statement(sql));
  }

  private addLink(): void {
    this.ends = this.nextEnds();
    this.statement(ADD_LINK).run(this.ends.commit, this.added, this.ends.head);
  }

  /** Including the link of the open transaction. */
  private nextEnds(): Ends {
    const { commit, head, next } = this.findEnds();
    return { commit: commit + 1, head: linkHash(head, this.added, this.content), next };
  }

  rollback(): void {
    this.clear();
    this.stage = 'none';
    this.last = undefined;
    if (this.sqlite.inTransaction) this.statement('ROLLBACK').run();
  }

  /** Knows the number of a call that the open transaction adds, and remembers it after the commit. */
  willHold(key: CallKey, number: number): void {
    this.numbers.add(key, number);
  }

  /** The number of a key's call; undefined for a key that this journal never issued. */
  numberOf(key: CallKey): number | undefined {
    return this.numbers.get(key) ?? this.lookUp(key);
  }

  /** How many unfinished calls of this process are remembered. */
  get unfinished(): number {
    return this.numbers.unfinished;
  }

  /** Whether the open transaction itself has added this call, and no result yet. */
  isFresh(key: CallKey): boolean {
    return this.numbers.isFresh(key);
  }

  /** The number of a finished call is hardly ever needed again. */
  forget(key: CallKey): void {
    this.numbers.forget(key);
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
    this.numbers.find(key, number);
    return number;
  }

  /** Closes the file. If no other connection uses it, everything is then in this one file. */
  close(): void {
    try {
      this.sqlite.close();
    } catch {
      // Rows that are not in this file yet are in the write-ahead log next to it.
    }
    this.around.watch?.close();
    this.around.onClosed?.();
  }
}
