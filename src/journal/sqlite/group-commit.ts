import { isToolError } from '../../errors/tool-error.js';
import { afterThisCallback, pause, systemClock } from '../../platform/clock/clock.js';
import { sqliteFailure } from '../../platform/sqlite/sqlite.js';
import { EndsHaveMoved } from './chain.js';
import type { JournalDatabase } from './journal-database.js';

/** How many groups may be committed before the event loop turns, because nothing else runs meanwhile. */
const MOST_AT_ONCE = 8;

/** An operation on the database. It may be repeated, so it changes only the database. */
export interface Operation<T> {
  readonly writes: boolean;
  /** It may become durable with the next write. If absent: it is durable when it is answered. */
  readonly isLazy?: boolean;
  run(database: JournalDatabase): T;
}

interface GroupCommitOptions {
  /** Called before the first group, and after a group that the system refused. */
  readonly open: () => JournalDatabase;
  /**
   * If the file cannot be opened for writing: gives access to the readable data. @throws `refusal` if there
   * is none
   */
  readonly readOnly?: <T>(refusal: unknown, run: (database: JournalDatabase) => T) => T;
  /** How long a group waits for another process that writes. */
  readonly busyTimeoutMs: number;
  /** Creates the error for a rejected operation. */
  readonly toError: (error: unknown) => Error;
}

/**
 * Runs operations in order, and commits together those that arrive together.
 *
 * 1. A promise resolves after the COMMIT of its operation; groups follow each other in order. A group of only lazy
 *    writes is not synced: the next synced group makes both durable.
 * 2. An operation that fails by itself is rejected alone: the group is rolled back and run again without it.
 * 3. If the system refuses (a full disk, a damaged file, another writer for too long), all writes of the
 *   group are rejected and none is kept, and the next group opens the file again. Pure reads are then tried
 *   alone.
 */
export class GroupCommit {
  private database: JournalDatabase | undefined = undefined;
  private waiting: Waiting[] = [];
  private draining: Promise<void> | undefined = undefined;
  private sinceTurn = 0;

  constructor(private readonly options: GroupCommitOptions) {}

  ask<T>(operation: Operation<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.waiting.push(new Asked(operation, resolve, reject));
      this.draining ??= this.drain();
    });
  }

  /** Resolves when all earlier operations are done or rejected. */
  async idle(): Promise<void> {
    await this.draining;
  }

  /** Makes all earlier operations durable. @throws the error that `toError` creates */
  async sync(): Promise<void> {
    await this.idle();
    try {
      this.database?.sync();
    } catch (error) {
      throw this.options.toError(error);
    }
  }

  /** Runs between two groups, outside any transaction. @throws the error that `toError` creates */
  async aside<T>(look: (database: JournalDatabase) => T): Promise<T> {
    await this.idle();
    try {
      this.database ??= this.options.open();
      return look(this.database);
    } catch (error) {
      throw this.options.toError(error);
    }
  }

  close(): void {
    this.database?.close();
    this.database = undefined;
  }

  private async drain(): Promise<void> {
    // Other operations of this turn of the event loop then share the commit.
    if (this.isAlone()) await afterThisCallback();
    else await this.nextTurn();
    while (this.waiting.length > 0) {
      const group = this.waiting;
      this.waiting = [];
      const refusal = this.attempt(group);
      if (refusal !== undefined) await this.tryLater(group, refusal);
    }
    this.draining = undefined;
  }

  /**
   * Whether no other caller is active that could request an operation in the same turn: then the commit does
   * not wait.
   */
  private isAlone(): boolean {
    this.sinceTurn++;
    return this.sinceTurn <= MOST_AT_ONCE && this.database !== undefined && this.database.unfinished <= 1;
  }

  private nextTurn(): Promise<void> {
    this.sinceTurn = 0;
    return new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  /** Runs the group to its end. If another process is in the way, returns SQLite's refusal. */
  private attempt(group: Waiting[]): unknown {
    try {
      this.database ??= this.options.open();
      const done = runTogether(this.database, group, this.options.toError);
      for (const each of done) each.succeed();
    } catch (error) {
      if (sqliteFailure(error) === 'busy') return error;
      this.closeQuietly();
      const reads = group.filter((each) => !each.writes);
      for (const each of group) if (each.writes) each.fail(this.options.toError(error));
      if (reads.length === group.length) return this.readOnly(reads, error);
      this.readAlone(reads);
    }
    return undefined;
  }

  /** Data on a full disk can still be read. */
  private readAlone(reads: Waiting[]): void {
    if (reads.length > 0 && this.attempt(reads) !== undefined) this.waiting = [...reads, ...this.waiting];
  }

  /** Data on a read-only medium can be read too. Like `attempt`. */
  private readOnly(reads: Waiting[], refusal: unknown): unknown {
    const { readOnly, toError } = this.options;
    try {
      if (readOnly === undefined) throw refusal;
      const done = readOnly(refusal, (database) => runTogether(database, reads, toError));
      for (const each of done) each.succeed();
    } catch (error) {
      if (sqliteFailure(error) === 'busy') return error;
      for (const each of reads) each.fail(toError(error));
    }
    return undefined;
  }

  private async tryLater(group: Waiting[], refusal: unknown): Promise<void> {
    // A random delay, so that two busy writers do not collide again.
    const now = systemClock.monotonic();
    for (const each of group) each.busySince ??= now;
    await pause(1 + Math.random() * 3);
    const until = systemClock.monotonic() - this.options.busyTimeoutMs;
    const patient = group.filter((each) => {
      if (each.busySince === undefined || each.busySince > until) return true;
      each.fail(this.options.toError(refusal));
      return false;
    });
    this.waiting = [...patient, ...this.waiting];
  }

  private closeQuietly(): void {
    try {
      this.close();
    } catch {
      // The earlier error is the one to report.
    }
  }
}

/** Runs and commits the possible operations; rejects those that fail by themselves. */
function runTogether(
  database: JournalDatabase,
  group: Waiting[],
  toError: (error: unknown) => Error,
): Waiting[] {
  let first = runOnce(database, group, 'together');
  if (first?.error instanceof EndsHaveMoved) first = runOnce(database, group, 'together');
  if (first === undefined) return group;
  let rest = group;
  for (;;) {
    // Only single writes show which operation failed.
    const failure = runOnce(database, rest, 'one by one');
    if (failure === undefined) return rest;
    failure.operation.fail(toError(failure.error));
    rest = rest.filter((each) => each !== failure.operation);
  }
}

interface LoneFailure {
  readonly operation: Waiting;
  readonly error: unknown;
}

function runOnce(
  database: JournalDatabase,
  group: Waiting[],
  writing: 'together' | 'one by one',
): LoneFailure | undefined {
  const writes = group.some((each) => each.writes);
  const isLazy = group.every((each) => each.isLazy || !each.writes);
  try {
    if (writes) database.begin(writing, isLazy ? 'later' : 'now');
    for (let place = 0; place < group.length; place++) {
      const operation = group[place] as Waiting;
      try {
        operation.run(database);
        if (place === group.length - 1) database.flush();
      } catch (error) {
        if (!isToolError(error) && sqliteFailure(error) !== 'statement') throw error;
        if (writes) database.rollback();
        return { operation, error };
      }
    }
    if (writes) database.commit();
    return undefined;
  } catch (error) {
    database.rollback();
    throw error;
  }
}

/** An operation and its promise. */
interface Waiting {
  readonly writes: boolean;
  readonly isLazy: boolean;
  /** When another process was first found writing, on the monotonic clock; undefined: never. */
  busySince: number | undefined;
  run(database: JournalDatabase): void;
  succeed(): void;
  fail(error: Error): void;
}

class Asked<T> implements Waiting {
  busySince: number | undefined = undefined;
  private answer: { readonly value: T } | undefined = undefined;

  constructor(
    private readonly operation: Operation<T>,
    private readonly resolve: (value: T) => void,
    readonly fail: (error: Error) => void,
  ) {}

  get writes(): boolean {
    return this.operation.writes;
  }

  get isLazy(): boolean {
    return this.operation.isLazy === true;
  }

  run(database: JournalDatabase): void {
    this.answer = { value: this.operation.run(database) };
  }

  succeed(): void {
    if (this.answer !== undefined) this.resolve(this.answer.value);
  }
}
