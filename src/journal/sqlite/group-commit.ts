import { isToolError } from '../../errors/tool-error.js';
import { afterThisCallback, pause, systemClock } from '../../platform/clock/clock.js';
import { sqliteFailure } from '../../platform/sqlite/sqlite.js';
import { EndsHaveMoved } from './chain.js';
import type { JournalDatabase } from './journal-database.js';

/** Groups in a row that may be committed before the event loop has turned: nothing else happens until it has. */
const MOST_AT_ONCE = 8;

/** One thing to do with the database. It may be tried more than once, so it changes nothing but the database. */
export interface Operation<T> {
  readonly writes: boolean;
  run(database: JournalDatabase): T;
}

interface GroupCommitOptions {
  /** Called before the first group, and after one that the system refused. */
  readonly open: () => JournalDatabase;
  /** Where the file cannot be opened for writing: hands over what can be read. @throws `refusal` where nothing can */
  readonly readOnly?: <T>(refusal: unknown, run: (database: JournalDatabase) => T) => T;
  /** How long a group waits for another process that writes. */
  readonly busyTimeoutMs: number;
  /** What an operation is rejected with. */
  readonly toError: (error: unknown) => Error;
}

/**
 * Runs operations in the order they are asked for, and commits together what came together.
 *
 * 1. A promise resolves after the COMMIT of its operation; groups follow each other in order.
 * 2. An operation that fails by itself is rejected alone: the group is rolled back and run again without it.
 * 3. When the system refuses (a full disk, a broken file, another writer for too long) all that the group writes is
 *    rejected, nothing of it is kept, and what comes next opens the file again. What only reads is then tried alone.
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

  /** Resolves when everything asked for so far is done or rejected. */
  async idle(): Promise<void> {
    await this.draining;
  }

  /** Between two groups, outside of any transaction. @throws what `toError` makes of a failure */
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
    // The rest of this turn of the event loop may ask for more, which then shares the commit.
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

  /** Whether no other caller is at work that might ask for something in the same turn: then the commit does not wait. */
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

  /** Ends the group, unless another process is in the way: then the answer is SQLite's refusal. */
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

  /** A full disk can still be read. */
  private readAlone(reads: Waiting[]): void {
    if (reads.length > 0 && this.attempt(reads) !== undefined) this.waiting = [...reads, ...this.waiting];
  }

  /** So can a medium that is read-only. As `attempt`. */
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
    // At random, so that two processes that write without a break do not keep meeting.
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
      // The error that led here is the one to tell.
    }
  }
}

/** Runs and commits the operations that can be; rejects those that fail by themselves. */
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
    // Who is to blame shows only where each writes for itself.
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
  try {
    if (writes) database.begin(writing);
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
  /** When another process was found writing first, on the clock that never goes back; undefined: never. */
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

  run(database: JournalDatabase): void {
    this.answer = { value: this.operation.run(database) };
  }

  succeed(): void {
    if (this.answer !== undefined) this.resolve(this.answer.value);
  }
}
