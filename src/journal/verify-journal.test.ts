import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../platform/sqlite/sqlite.js';
import { batchEntry, callEntry, successOf, WORKER } from '../testing/journal-entries.js';
import { openJournal } from './open-journal.js';
import { linkHash, rowContent } from './sqlite/chain.js';
import { anchorPath } from './sqlite/journal-anchor.js';
import { APPLICATION_ID, MIGRATIONS } from './sqlite/migrations.js';
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
  await journal.finish('b1/0', successOf('x', 'z'.repeat(100_000)), 2, WORKER);
  await journal.finish('b1/0', successOf('x', 'late'), 3, WORKER);
  await journal.close();
});

afterEach(() => rmSync(directory, { recursive: true }));

describe('verifyJournal()', () => {
  it('accepts an unchanged journal, whose head moves with every commit', async () => {
    const before = verifyJournal(path);
    expect(before).toMatchObject({ intact: true, commits: 6 });
    const journal = openJournal(path);
    await journal.finish('b1/1', successOf('y'), 4, WORKER);
    await journal.close();
    const after = verifyJournal(path);
    expect(after).toMatchObject({ intact: true, commits: 7 });
    expect(after).not.toMatchObject({ head: before.intact && before.head });
  });

  it('accepts a journal of the first version, even after this version has written to it', async () => {
    rmSync(path);
    rmSync(anchorPath(path));
    const database = openSqlite(path);
    database.exec(MIGRATIONS[0] ?? '');
    const values = [1, 'old', 'talk', 0, 0, 1];
    database
      .prepare(
        'INSERT INTO batches (number, id, conversation, attach, size, accepted_at) VALUES (?, ?, ?, ?, ?, ?)',
      )
      .run(...values);
    const hash = linkHash('', 'batches:1', rowContent(values));
    database.prepare('INSERT INTO commits (added, hash) VALUES (?, ?)').run('batches:1', hash);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 1`);
    database.close();
    const journal = openJournal(path);
    await journal.accept(batchEntry('new', [callEntry('x')], { worker: WORKER }));
    expect((await journal.batches()).map(({ id }) => id)).toEqual(['new', 'old']);
    await journal.close();
    expect(verifyJournal(path)).toMatchObject({ intact: true, commits: 2 });
  });

  it.each([
    'UPDATE workers SET pid = 1',
    "UPDATE batches SET worker = NULL WHERE id = 'b3'",
    "UPDATE batch_notes SET kind = 'resume' WHERE kind = 'wait'",
    "DELETE FROM batch_notes WHERE kind = 'message'",
    "UPDATE messages SET role = 'system'",
    "UPDATE blobs SET content = x'00'",
  ])('covers processes, messages and decisions: %s', async (tampering) => {
    const journal = openJournal(path);
    const worker = { ...WORKER, startTicks: 7, system: 'here' };
    await journal.accept(batchEntry('b3', [callEntry('z')], { worker, message: { text: 'hello' } }));
    await journal.decide('b3', { kind: 'wait', at: 1, data: {} });
    await journal.message('talk', { role: 'user', content: 'hi', at: 1 });
    await journal.keep(new Uint8Array(3));
    await journal.close();
    expect(verifyJournal(path)).toMatchObject({ intact: true });
    const database = openSqlite(path);
    database.exec(`PRAGMA foreign_keys = OFF; ${tampering}`);
    database.close();
    expect(verifyJournal(path)).toMatchObject({ intact: false });
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
  ])('finds the first commit that was replaced: %s', (tampering, commit) => {
    tamper(tampering);
    expect(verifyJournal(path)).toMatchObject({ intact: false, commit });
  });

  it.each([
    ["INSERT INTO claims VALUES (2 + 3, 'w', 1, 1, 1)", 'rows'],
    ["UPDATE blobs SET content = x'00'", 'blob'],
    ['UPDATE blobs SET size = 1', 'blob'],
    ['DELETE FROM blobs', 'is gone'],
    ['DELETE FROM unfinished', 'unfinished'],
    ['INSERT INTO unfinished VALUES (2)', 'unfinished'],
    ["INSERT INTO decided VALUES (1, 'wait')", 'decided'],
    ['DROP TRIGGER call_is_unfinished', 'trigger call_is_unfinished'],
    ['CREATE TRIGGER evil AFTER INSERT ON calls BEGIN DELETE FROM unfinished; END', 'trigger evil'],
  ])('finds changes that the chain does not cover: %s', (tampering, reason) => {
    tamper(tampering);
    expect(verifyJournal(path)).toMatchObject({ intact: false, reason: expect.stringContaining(reason) });
  });

  it('reports that the old content of a file, which an undo would need, is gone', async () => {
    const journal = openJournal(path);
    const preimage = await journal.keep(new Uint8Array(3));
    const changes = [{ path: '/f', before: preimage, after: null, preimage }];
    await journal.note('b1/1', { kind: 'intent', data: { op: 'write', changes }, at: 1 });
    await journal.close();
    expect(verifyJournal(path)).toMatchObject({ intact: true });
    tamper('DELETE FROM blobs WHERE size = 3');
    expect(verifyJournal(path)).toMatchObject({ intact: false, reason: expect.stringContaining('is gone') });
  });

  it('refuses a file that is not a journal', () => {
    expect(() => verifyJournal(directory)).toThrow(expect.objectContaining({ code: 'journal_unavailable' }));
  });
});

function tamper(sql: string): void {
  const database = openSqlite(path);
  database.exec('PRAGMA foreign_keys = OFF');
  database.exec(sql);
  database.close();
}
