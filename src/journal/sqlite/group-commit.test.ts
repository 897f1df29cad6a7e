import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite, type SqliteDatabase } from '../../platform/sqlite/sqlite.js';
import { GroupCommit, type Operation } from './group-commit.js';
import { JournalDatabase } from './journal-database.js';

let sqlite: SqliteDatabase;
let commits: GroupCommit;
let opened = 0;

/** A database with one table of unique numbers. */
beforeEach(() => {
  opened = 0;
  sqlite = openSqlite(':memory:');
  sqlite.exec('CREATE TABLE numbers (number INTEGER PRIMARY KEY, filling BLOB) STRICT');
  sqlite.exec('CREATE TABLE batches (number INTEGER PRIMARY KEY, size INTEGER) STRICT');
  sqlite.exec('CREATE TABLE commits (number INTEGER PRIMARY KEY, added TEXT, hash TEXT) STRICT');
  commits = new GroupCommit({
    open: () => {
      opened++;
      return new JournalDatabase({
        ...sqlite,
        get inTransaction() {
          return sqlite.inTransaction;
        },
        close: () => {},
      });
    },
    busyTimeoutMs: 100,
    toError: (error) => (error instanceof Error ? error : new Error(String(error))),
  });
});

afterEach(() => sqlite.close());

function add(number: number | string, bytes = 0): Operation<number | string> {
  return {
    writes: true,
    run(database) {
      database.prepared('INSERT INTO numbers VALUES (?, zeroblob(?))').run(number, bytes);
      database.chain('notes', 1, [number]);
      return number;
    },
  };
}

const numbers = (): unknown[] =>
  sqlite
    .prepare('SELECT number FROM numbers')
    .all()
    .map(({ number }) => number);
const countCommits = (): unknown => sqlite.prepare('SELECT count(*) AS n FROM commits').get()?.n;

describe('GroupCommit', () => {
  it('commits all requests of one turn of the event loop at once', async () => {
    await Promise.all([
      commits.ask(add(1)),
      commits.ask(add(2)),
      Promise.resolve().then(() => commits.ask(add(3))),
    ]);
    expect(numbers()).toEqual([1, 2, 3]);
    expect(countCommits()).toBe(1);
    await commits.ask(add(4));
    expect(countCommits()).toBe(2);
  });

  it('does not wait for a turn if it has no other work, and still lets the event loop turn', async () => {
    await commits.ask(add(0));
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await commits.ask(add(1));
    expect(turned).toBe(false);
    for (let number = 2; number < 100 && !turned; number++) await commits.ask(add(number));
    expect(turned).toBe(true);
  });

  it('answers after the commit', async () => {
    await commits.ask(add(1)).then(() => expect(sqlite.inTransaction).toBe(false));
    expect(countCommits()).toBe(1);
  });

  it('rejects only the request that fails, and keeps the order of the others', async () => {
    const asked = [add(1), add('no number'), add(2), add(1), add(3)].map((each) => commits.ask(each));
    const settled = await Promise.allSettled(asked);
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(numbers()).toEqual([1, 2, 3]);
    expect(countCommits()).toBe(1);
  });

  it('rejects the whole group when the disk is full, keeps none of it, and continues when there is room', async () => {
    await commits.ask(add(1));
    sqlite.exec('PRAGMA max_page_count = 6');
    const settled = await Promise.allSettled(
      [add(2), add(3, 100_000), add(4)].map((each) => commits.ask(each)),
    );
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(settled[0]).toMatchObject({ reason: { message: expect.stringContaining('full') } });
    expect(numbers()).toEqual([1]);
    expect(sqlite.inTransaction).toBe(false);
    sqlite.exec('PRAGMA max_page_count = 10000');
    await Promise.all([add(2), add(3, 100_000)].map((each) => commits.ask(each)));
    expect(numbers()).toEqual([1, 2, 3]);
    expect(opened).toBe(2);
  });

  it('answers reads even if a write of the same commit is refused', async () => {
    await commits.ask(add(1));
    sqlite.exec('PRAGMA max_page_count = 6');
    const read: Operation<unknown[]> = { writes: false, run: numbers };
    const settled = await Promise.allSettled(
      [read, add(2, 100_000), read].map((each: Operation<unknown>) => commits.ask(each)),
    );
    expect(settled).toMatchObject([{ value: [1] }, { status: 'rejected' }, { value: [1] }]);
    const broken: Operation<never> = {
      writes: false,
      run() {
        throw new Error('the disk cannot be read');
      },
    };
    const unreadable = await Promise.allSettled(
      [broken, add(2, 100_000)].map((each: Operation<unknown>) => commits.ask(each)),
    );
    expect(unreadable.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('rejects the whole group when COMMIT itself is refused', async () => {
    sqlite.exec(
      'CREATE TABLE child (parent INTEGER REFERENCES numbers DEFERRABLE INITIALLY DEFERRED) STRICT',
    );
    sqlite.exec('PRAGMA foreign_keys = ON');
    const orphan: Operation<void> = {
      writes: true,
      run: (database) => void database.prepared('INSERT INTO child VALUES (99)').run(),
    };
    const settled = await Promise.allSettled([commits.ask(add(1)), commits.ask(orphan)]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(numbers()).toEqual([]);
    await commits.ask(add(1));
    expect(numbers()).toEqual([1]);
  });

  it('reads in order with writes, and without a transaction if nothing is written', async () => {
    const read: Operation<unknown[]> = { writes: false, run: numbers };
    const answers = await Promise.all([
      commits.ask(add(1)),
      commits.ask(read),
      commits.ask(add(2)),
      commits.ask(read),
    ]);
    expect(answers).toEqual([1, [1], 2, [1, 2]]);
    const inTransaction = await commits.ask({ writes: false, run: () => sqlite.inTransaction });
    expect(inTransaction).toBe(false);
  });

  it('is idle when every request is answered', async () => {
    let done = 0;
    const asked = Array.from({ length: 5 }, (_, index) => commits.ask(add(index)).then(() => done++));
    await commits.idle();
    await Promise.all(asked);
    expect(done).toBe(5);
    await commits.idle();
  });
});
