import { describe, expect, it } from 'vitest';
import { openSqlite, type SqliteDatabase, sqliteFailure } from './sqlite.js';

describe('sqliteFailure()', () => {
  it.each([
    ['a constraint', 'statement', (db: SqliteDatabase) => db.exec('INSERT INTO t VALUES (1), (1)')],
    [
      'a value of the wrong type',
      'statement',
      (db: SqliteDatabase) => db.prepare('INSERT INTO t VALUES (?)').run('x'),
    ],
    [
      'a missing value',
      'statement',
      (db: SqliteDatabase) => db.prepare('INSERT INTO t VALUES (?)').run(undefined as never),
    ],
    ['a missing table', 'damaged', (db: SqliteDatabase) => db.prepare('SELECT * FROM missing')],
    ['a full database', 'full', (db: SqliteDatabase) => fill(db)],
    [
      'a read-only database',
      'read-only',
      (db: SqliteDatabase) => db.exec('PRAGMA query_only = ON; INSERT INTO t VALUES (1)'),
    ],
  ])('tells %s: %s', (_what, expected, act) => {
    const database = openSqlite(':memory:');
    database.exec('CREATE TABLE t (a INTEGER PRIMARY KEY) STRICT; CREATE TABLE big (a BLOB)');
    expect(() => act(database)).toThrow(
      expect.toSatisfy((error: unknown) => sqliteFailure(error) === expected),
    );
    database.close();
  });

  it.each([
    ['database is locked', 'busy'],
    ['database table is locked', 'busy'],
    ['database disk image is malformed', 'damaged'],
    ['file is not a database', 'damaged'],
    ['database or disk is full', 'full'],
    ['disk I/O error', 'environment'],
    ['unable to open database file', 'environment'],
  ])('knows "%s" without its code', (message, expected) => {
    expect(sqliteFailure(Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR' }))).toBe(expected);
  });
});

function fill(database: SqliteDatabase): void {
  database.exec('PRAGMA max_page_count = 4; INSERT INTO big VALUES (zeroblob(100000))');
}
