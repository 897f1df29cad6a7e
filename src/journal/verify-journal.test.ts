import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../platform/sqlite.js';
import { batchEntry, callEntry, successOf, WORKER } from '../testing/journal-entries.js';
import { openJournal } from './open-journal.js';
import { verifyJournal } from './verify-journal.js';

let directory: string;
let path: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
  path = join(directory, 'journal.db');
  const journal = openJournal(path);
  await journal.accept(batchEntry('b1', [callEntry('x'), callEntry('\0')], { attach: true }));
  await journal.accept(batchEntry('b2', [callEntry('x')], { attach: true, at: 0.5 }));
  await Promise.all([journal.claim('b1/0', WORKER, 1), journal.claim('b1/1', WORKER, 1)]);
  await journal.note('b1/0', { kind: 'intent', data: { a: 1 }, at: 1 });
  await journal.finish('b1/0', successOf('x', 'z'.repeat(100_000)), 2);
  await journal.finish('b1/0', successOf('x', 'late'), 3);
  await journal.close();
});

afterEach(() => rmSync(directory, { recursive: true }));

describe('verifyJournal()', () => {
  it('finds an untouched journal intact, and its head moves with every commit', async () => {
    const before = verifyJournal(path);
    expect(before).toMatchObject({ intact: true, commits: 6 });
    const journal = openJournal(path);
    await journal.finish('b1/1', successOf('y'), 4);
    await journal.close();
    const after = verifyJournal(path);
    expect(after).toMatchObject({ intact: true, commits: 7 });
    expect(after).not.toMatchObject({ head: before.intact && before.head });
  });

  it.each([
    ["UPDATE calls SET args = '{}' WHERE number = 2", 1],
    ["UPDATE batches SET conversation = 'other' WHERE id = 'b2'", 2],
    ['UPDATE repeats SET call = 3', 2],
    ['UPDATE claims SET pid = 1 WHERE call = 3', 3],
    ['DELETE FROM notes WHERE number = 1', 4],
    ['UPDATE results SET finished_at = 9', 5],
    ["UPDATE notes SET data = replace(data, 'late', 'soon')", 6],
    ['UPDATE commits SET hash = hex(zeroblob(32)) WHERE number = 4', 4],
    ['DELETE FROM commits WHERE number = 3', 3],
  ])('finds the first commit that is not what it was: %s', (tampering, commit) => {
    tamper(tampering);
    expect(verifyJournal(path)).toMatchObject({ intact: false, commit });
  });

  it.each([
    ["INSERT INTO claims VALUES (2 + 3, 'w', 1, 1, 1)", 'rows'],
    ["UPDATE blobs SET content = x'00'", 'blob'],
  ])('finds what the chain does not cover: %s', (tampering, reason) => {
    tamper(tampering);
    expect(verifyJournal(path)).toMatchObject({ intact: false, reason: expect.stringContaining(reason) });
  });

  it('refuses what is no journal', () => {
    expect(() => verifyJournal(directory)).toThrow(expect.objectContaining({ code: 'journal_unavailable' }));
  });
});

function tamper(sql: string): void {
  const database = openSqlite(path);
  database.exec('PRAGMA foreign_keys = OFF');
  database.exec(sql);
  database.close();
}
