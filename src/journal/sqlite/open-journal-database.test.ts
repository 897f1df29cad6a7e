import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attachSqlite, type SqliteDatabase } from '../../platform/sqlite/sqlite.js';
import { migrate } from './open-journal-database.js';

let sqlite: SqliteDatabase;

beforeEach(() => {
  sqlite = attachSqlite('journal', ':memory:');
});

afterEach(() => sqlite.close());

const FIRST = 'CREATE TABLE a (x INTEGER) STRICT';
const SECOND = 'CREATE TABLE b (x INTEGER) STRICT; INSERT INTO b SELECT x FROM a';

const version = (): unknown => sqlite.prepare('PRAGMA journal.user_version').get()?.user_version;

describe('migrate()', () => {
  it('takes each step once, forward', () => {
    migrate(sqlite, 'journal.db', [FIRST]);
    expect(version()).toBe(1);
    sqlite.exec('INSERT INTO a VALUES (7)');
    migrate(sqlite, 'journal.db', [FIRST, SECOND]);
    migrate(sqlite, 'journal.db', [FIRST, SECOND]);
    expect(version()).toBe(2);
    expect(sqlite.prepare('SELECT x FROM b').all()).toEqual([{ x: 7 }]);
  });

  it('takes all steps or none', () => {
    migrate(sqlite, 'journal.db', [FIRST]);
    expect(() => migrate(sqlite, 'journal.db', [FIRST, SECOND, 'CREATE TABLE a (x INTEGER)'])).toThrow(
      'already exists',
    );
    expect(version()).toBe(1);
    expect(sqlite.inTransaction).toBe(false);
    expect(() => sqlite.prepare('SELECT * FROM b')).toThrow('no such table');
  });

  it('refuses a database that a newer version has migrated', () => {
    migrate(sqlite, 'journal.db', [FIRST, SECOND]);
    expect(() => migrate(sqlite, 'journal.db', [FIRST])).toThrow(
      expect.objectContaining({
        code: 'journal_unavailable',
        details: { path: 'journal.db', schema: 2, known: 1 },
      }),
    );
  });

  it('refuses a database that is not empty and not ours', () => {
    sqlite.exec('CREATE TABLE journal.a (x INTEGER) STRICT');
    expect(() => migrate(sqlite, 'other.db', [SECOND])).toThrow('another program');
    expect(version()).toBe(0);
  });
});
