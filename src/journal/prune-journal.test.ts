import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../contract/journal.js';
import { openSqlite } from '../platform/sqlite/sqlite.js';
import { batchEntry, callEntry, successOf, WORKER } from '../testing/journal-entries.js';
import { openJournal } from './open-journal.js';
import { pruneJournal } from './prune-journal.js';
import { verifyJournal } from './verify-journal.js';

let directory: string;
let path: string;
let journal: Journal;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
  path = join(directory, 'journal.db');
  journal = openJournal(path);
});

afterEach(async () => {
  await journal.close();
  rmSync(directory, { recursive: true });
});

/** A batch of one call that ran to its end at that time. */
async function settle(id: string, at: number, output = 'done', conversation = id): Promise<void> {
  await journal.accept(batchEntry(id, [callEntry('x')], { attach: true, at, conversation }));
  await journal.claim(`${id}/0`, WORKER, at);
  await journal.note(`${id}/0`, { kind: 'intent', data: { id }, at });
  await journal.finish(`${id}/0`, successOf('x', output), at, WORKER);
}

async function ids(): Promise<readonly string[]> {
  return (await journal.batches()).map(({ id }) => id).toReversed();
}

describe('pruneJournal() by age', () => {
  it('bug: sessions that ended long ago were never removed', async () => {
    const day = 86_400_000;
    const workers = ['gone', 'left', 'alive'].map((id) => ({ ...WORKER, id, epoch: 1 }));
    for (const worker of workers) await journal.renew?.(worker, 1);
    await journal.accept(batchEntry('b', [callEntry('x')]));
    const [gone = WORKER, left = WORKER] = workers;
    await journal.claim('b/0', left, 1);
    for (const { id } of [gone, left]) await journal.reap?.({ id, epoch: 1 }, 1, 2);
    await pruneJournal(path, { before: 1, at: 2 * day });
    expect(await journal.reap?.({ id: 'gone', epoch: 1 }, 1, 3), 'its row is gone').toBeUndefined();
    expect((await journal.sessions?.())?.map(({ worker }) => worker.id)).toEqual(['alive', 'left']);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('removes batches that were finished before, with all their records, and the rest still verifies', async () => {
    for (const at of [1, 2, 3, 4]) await settle(`b${at}`, at);
    const before = verifyJournal(path);
    expect(await pruneJournal(path, { before: 3, at: 9 })).toMatchObject({
      batches: 2,
      calls: 2,
      messages: 0,
    });
    expect(await ids()).toEqual(['b3', 'b4']);
    expect(await journal.call('b1/0')).toBeUndefined();
    expect(await journal.notes('b2/0')).toEqual([]);
    expect(await journal.call('b3/0')).toMatchObject({ state: 'done', result: { output: 'done' } });
    expect(verifyJournal(path)).toMatchObject({ intact: true, prunes: 1 });
    expect(verifyJournal(path)).not.toMatchObject({ head: before.intact && before.head });
    await settle('b5', 5);
    expect(await ids()).toEqual(['b3', 'b4', 'b5']);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
    expect(await pruneJournal(path, { before: 5, at: 9 })).toMatchObject({ batches: 2 });
    expect(verifyJournal(path)).toMatchObject({ intact: true, prunes: 2 });
    expect(await pruneJournal(path, { before: 5, at: 9 })).toMatchObject({ batches: 0, shrunk: false });
    expect(verifyJournal(path)).toMatchObject({ prunes: 2 });
  });

  it('never removes an unfinished batch, one that waits for the person, or the newest', async () => {
    await journal.accept(batchEntry('queued', [callEntry('x'), callEntry('y')], { at: 1 }));
    await journal.finish('queued/0', successOf('x'), 1, WORKER);
    await journal.accept(batchEntry('running', [callEntry('x')], { at: 1 }));
    await journal.claim('running/0', WORKER, 1);
    await journal.accept(batchEntry('waits', [callEntry('x')], { at: 1 }));
    await journal.decide('waits', { kind: 'wait', at: 1, data: {} });
    await journal.finish('waits/0', successOf('x'), 1, WORKER);
    await settle('late', 1);
    await journal.accept(batchEntry('long', [callEntry('x')], { at: 1 }));
    await journal.finish('long/0', successOf('x'), 50, WORKER);
    await settle('newest', 1);
    expect(await pruneJournal(path, { before: 50, at: 60 })).toMatchObject({ batches: 1 });
    expect(await ids()).toEqual(['queued', 'running', 'waits', 'long', 'newest']);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('keeps a call as long as a batch that was answered with its result', async () => {
    await settle('first', 1, 'done', 'talk');
    await journal.accept(
      batchEntry('again', [callEntry('x')], { attach: true, at: 5, conversation: 'talk' }),
    );
    await settle('newest', 9);
    expect(await pruneJournal(path, { before: 5, at: 9 })).toMatchObject({ batches: 0 });
    expect(await journal.batch('again')).toMatchObject([{ batchId: 'first' }]);
    expect(await pruneJournal(path, { before: 6, at: 9 })).toMatchObject({ batches: 2, calls: 1 });
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('removes the messages of removed conversations', async () => {
    await journal.message('b1', { role: 'user', content: 'old', at: 1 });
    await settle('b1', 1);
    await journal.message('b2', { role: 'user', content: 'old, of what stays', at: 1 });
    await settle('b2', 7);
    await journal.message('b3', { role: 'user', content: 'new', at: 8 });
    expect(await pruneJournal(path, { before: 5, at: 9 })).toMatchObject({ batches: 1, messages: 1 });
    expect(await journal.history('b2')).toHaveLength(2);
    expect(await journal.history('b3')).toHaveLength(1);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('keeps contents that are referred to, and those of running calls', async () => {
    const kept = [new Uint8Array(9), new Uint8Array(10), new Uint8Array(11)];
    const [gone = '', shared = '', fresh = ''] = await Promise.all(kept.map((bytes) => journal.keep(bytes)));
    const long = 'z'.repeat(100_000);
    await settle('b1', 1, long);
    await journal.note('b1/0', { kind: 'preimage', data: { gone, shared }, at: 1 });
    await settle('b2', 5, long);
    await journal.note('b2/0', { kind: 'preimage', data: { files: [{ shared }] }, at: 1 });
    await journal.accept(batchEntry('b3', [callEntry('x')], { at: 6 }));
    await pruneJournal(path, { before: 3, at: 9 });
    expect(await journal.kept(fresh)).toBeDefined();
    expect(await journal.call('b2/0')).toMatchObject({ result: { output: long } });
    await journal.finish('b3/0', successOf('x'), 6, WORKER);
    await settle('b4', 7);
    await pruneJournal(path, { before: 6, at: 9 });
    expect(await journal.kept(gone)).toBeUndefined();
    expect(await journal.kept(fresh)).toBeUndefined();
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('lists with dryRun what it would remove, and changes nothing', async () => {
    for (const at of [1, 2, 3]) await settle(`b${at}`, at, 'z'.repeat(70_000 + at));
    const before = verifyJournal(path);
    const said = await pruneJournal(path, { before: 3, dryRun: true, at: 9 });
    expect(verifyJournal(path)).toEqual(before);
    expect(await ids()).toHaveLength(3);
    const done = await pruneJournal(path, { before: 3, at: 9 });
    expect(done).toMatchObject({ batches: said.batches, calls: said.calls, bytesBefore: said.bytesBefore });
    expect(said.bytesAfter).toBeLessThan(said.bytesBefore - 100_000);
  });
});

describe('pruneJournal() by size', () => {
  it('removes the oldest batches until the rest is small enough, and frees the disk space', async () => {
    for (let at = 1; at <= 30; at++) await settle(`b${at}`, at, String(at).repeat(30_000));
    const size = statSync(`${path}-wal`).size;
    const { bytesAfter, shrunk } = await pruneJournal(path, { maxBytes: 500_000, at: 99 });
    expect(bytesAfter).toBeLessThanOrEqual(500_000);
    expect(bytesAfter).toBeGreaterThan(300_000);
    expect(shrunk).toBe(true);
    expect(statSync(path).size).toBeLessThan(size / 2);
    const left = await ids();
    expect(left.at(-1)).toBe('b30');
    expect(left).toEqual(Array.from({ length: left.length }, (_, at) => `b${31 - left.length + at}`));
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });
});

describe('pruneJournal() and the chain', () => {
  it.each([
    "UPDATE calls SET args = '{}' WHERE number = (SELECT max(number) FROM calls)",
    'UPDATE prunes SET pruned_at = 5',
    `UPDATE prunes SET data = replace(data, '"batches":2', '"batches":1')`,
    'DELETE FROM prunes',
    'DELETE FROM notes WHERE number = (SELECT max(number) FROM notes)',
    'UPDATE commits SET hash = hex(zeroblob(32)) WHERE number = (SELECT min(number) FROM commits)',
    'DELETE FROM commits WHERE number = (SELECT min(number) FROM commits)',
  ])('finds changes after a prune: %s', async (tampering) => {
    for (const at of [1, 2, 3]) await settle(`b${at}`, at);
    await pruneJournal(path, { before: 3, at: 9 });
    expect(verifyJournal(path)).toMatchObject({ intact: true });
    tamper(tampering);
    expect(verifyJournal(path)).toMatchObject({ intact: false });
  });

  it('does not hide an earlier change', async () => {
    for (const at of [1, 2, 3]) await settle(`b${at}`, at);
    tamper("UPDATE calls SET args = '{}' WHERE number = 2");
    await expect(pruneJournal(path, { before: 3, at: 9 })).rejects.toThrow(
      'commit 1 does not have the content with which it was written',
    );
    expect(await ids()).toHaveLength(3);
  });

  it('finds the commits of a later batch before the new commits of an earlier one', async () => {
    const both = ['late', 'early'];
    await Promise.all(both.map((id) => journal.accept(batchEntry(id, [callEntry('x')], { at: 1 }))));
    await Promise.all([
      journal.finish('late/0', successOf('x'), 50, WORKER),
      journal.finish('early/0', successOf('x'), 1, WORKER),
    ]);
    await settle('between', 10);
    await settle('newest', 10);
    await pruneJournal(path, { before: 3, at: 20 });
    expect(await ids()).toEqual(['late', 'between', 'newest']);
    expect(await pruneJournal(path, { before: 60, at: 70, atOnce: 1 })).toMatchObject({ batches: 2 });
    expect(verifyJournal(path)).toMatchObject({ intact: true, prunes: 3 });
  });

  it('stay consistent with any mix of calls in commits, and any order of prunes', {
    tags: ['soak'],
  }, async () => {
    const step = fc.record({
      deliver: fc.array(fc.record({ at: fc.nat(20), finish: fc.boolean() }), { maxLength: 6 }),
      before: fc.nat(25),
      atOnce: fc.integer({ min: 1, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
        const file = join(directory, `${Math.random()}.db`);
        const own = openJournal(file);
        let count = 0;
        for (const { deliver, before, atOnce } of steps) {
          // In one turn of the event loop: they share commits.
          await Promise.all(
            deliver.map(async ({ at, finish }) => {
              const id = `b${++count}`;
              const said = own.accept(
                batchEntry(id, [callEntry(`c${at}`)], { attach: true, at, conversation: 'talk' }),
              );
              const [acceptance] = await said;
              if (finish && acceptance?.kind === 'fresh')
                await own.finish(acceptance.key, successOf('x'), at, WORKER);
            }),
          );
          await pruneJournal(file, { before, at: 99, atOnce });
          expect(verifyJournal(file)).toMatchObject({ intact: true });
          const batches = await own.batches();
          for (const { id, size } of batches) expect(await own.batch(id)).toHaveLength(size);
        }
        await own.close();
      }),
      { numRuns: 30 },
    );
  });
});

function tamper(sql: string): void {
  const database = openSqlite(path);
  database.exec('PRAGMA foreign_keys = OFF');
  database.exec(sql);
  database.close();
}
