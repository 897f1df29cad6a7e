import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundleProgram } from '../../testing/fixtures/bundle-program.js';
import { isSafeSqlite, openSqlite } from './sqlite.js';

describe('openSqlite()', () => {
  it('uses a SQLite that loses no commits', () => {
    const database = openSqlite(':memory:');
    const row = database.prepare('SELECT sqlite_version() AS version').get();
    expect(isSafeSqlite(String(row?.version))).toBe(true);
    database.close();
  });

  it('runs, gets and lists', () => {
    const database = openSqlite(':memory:');
    database.exec('CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)');
    const add = database.prepare('INSERT INTO t VALUES (?, ?) ON CONFLICT DO NOTHING');
    expect([add.run(1, null), add.run(1, null), add.run(2, new Uint8Array([7]))]).toEqual([1, 0, 1]);
    expect(database.prepare('SELECT a FROM t WHERE a = ?').get(3)).toBe(undefined);
    expect(database.prepare('SELECT * FROM t').all()).toEqual([
      { a: 1, b: null },
      { a: 2, b: new Uint8Array([7]) },
    ]);
    expect(database.inTransaction).toBe(false);
    database.exec('BEGIN');
    expect(database.inTransaction).toBe(true);
    database.close();
  });

  it('loads no driver before a database is opened, and then without a word', () => {
    const program = `
      const { openSqlite } = await import(${JSON.stringify(bundleProgram(join(import.meta.dirname, 'sqlite.ts')))});
      const loaded = () => Object.keys(process.report?.getReport().sharedObjects ?? {}).length >= 0 &&
        process.report.getReport().sharedObjects.some((path) => path.includes('sqlite'));
      const before = loaded();
      openSqlite(':memory:');
      process.stdout.write(JSON.stringify([before, loaded()]));
      process.emitWarning('of somebody else');`;
    const args = ['--input-type=module', '-e', program];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const hasOwn = isSafeSqlite(process.versions.sqlite);
    expect(JSON.parse(stdout)).toEqual([false, !hasOwn]);
    // Node's own warning is not shown.
    expect(stderr.match(/Warning: .*/g)).toEqual(['Warning: of somebody else']);
  });
});

describe('isSafeSqlite()', () => {
  it.each([
    ['3.51.3', true],
    ['3.51.10', true],
    ['3.53.0', true],
    ['4.0.0', true],
    ['3.51.2', false],
    ['3.50.9', false],
    [undefined, false],
  ])('%s: %s', (version, safe) => {
    expect(isSafeSqlite(version)).toBe(safe);
  });
});
