import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attachSqlite, type SqliteDatabase } from '../../platform/sqlite/sqlite.js';
import { checkIdentity, migrate } from './open-journal-database.js';

let sqlite: SqliteDatabase;

beforeEach(() => {
  sqlite = attachSqlite('journal', ':memory:');
});

afterEach(() => sqlite.close());

const FIRST = 'CREATE TABLE a (x INTEGER) STRICT';
const SECOND = 'CREATE TABLE b (x INTEGER) STRICT; INSERT INTO b SELECT x FROM a';

const version = (): unknown => sqlite.prepare('PRAGMA journal.user_version').get()?.user_version;

describe('migrate()', () => {
  it('applies each step once, in order', () => {
    migrate(sqlite, 'journal.db', [FIRST]);
    expect(version()).toBe(1);
    sqlite.exec('INSERT INTO a VALUES (7)');
    migrate(sqlite, 'journal.db', [FIRST, SECOND]);
    migrate(sqlite, 'journal.db', [FIRST, SECOND]);
    expect(version()).toBe(2);
    expect(sqlite.prepare('SELECT x FROM b').all()).toEqual([{ x: 7 }]);
  });

  it('applies all steps or none', () => {
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

describe('checkIdentity()', () => {
  it.each([1, 2, 3])('accepts a journal that another process creates before query %i', (nth) => {
    const directory = mkdtempSync(join(tmpdir(), 'identity-'));
    const path = join(directory, 'journal.db');
    const [ours, theirs] = [attachSqlite('journal', path), attachSqlite('journal', path)];
    let asked = 0;
    const watched: SqliteDatabase = {
      ...ours,
      prepare(sql) {
        asked += 1;
        if (asked === nth) migrate(theirs, path, [FIRST]);
        return ours.prepare(sql);
      },
    };
    // 0 if the version was read before there was one: `migrate` reads it again, alone.
    expect(checkIdentity(watched, path, 1)).toBe(nth === 3 ? 0 : 1);
    expect(asked).toBe(3);
    for (const each of [ours, theirs]) each.close();
    rmSync(directory, { recursive: true });
  });
});
