import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../contract/journal.js';
import { batchEntry, callEntry, successOf, WORKER } from '../../testing/journal-entries.js';
import { openJournal } from '../open-journal.js';
import { verifyJournal } from '../verify-journal.js';
import { readAnchor } from './journal-anchor.js';

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

/** The last commit that is on disk: the anchor names no other. */
const onDisk = (): number => readAnchor(path).head?.commit ?? 0;

const read = (id: string) => journal.accept({ ...batchEntry(id, [callEntry('x')]), onlyReads: true });

describe('the acceptance of a batch that only reads', () => {
  it('becomes durable with its result, in one sync', async () => {
    await journal.accept(batchEntry('a', [callEntry('x')]));
    expect(onDisk()).toBe(1);
    await read('b');
    expect(onDisk()).toBe(1);
    expect(await journal.batch('b')).toHaveLength(1);
    await journal.finish('b/0', successOf('x'), 2, WORKER);
    expect(onDisk()).toBe(3);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('becomes durable with the claim of another call, and before it', async () => {
    await journal.accept(batchEntry('a', [callEntry('x')]));
    await read('b');
    expect(await journal.claim('a/0', WORKER, 2)).toBe(true);
    expect(onDisk()).toBe(3);
  });

  it('is durable at once if another write follows in the same turn', async () => {
    await Promise.all([read('a'), journal.accept(batchEntry('b', [callEntry('x')]))]);
    expect(onDisk()).toBe(1);
  });

  it('becomes durable with sync()', async () => {
    await read('a');
    expect(onDisk()).toBe(0);
    await journal.sync();
    expect(onDisk()).toBe(1);
    await journal.sync();
    expect(onDisk()).toBe(1);
  });

  it('leaves no mark in the record', async () => {
    await read('a');
    const [record] = await journal.batches();
    expect(record).not.toHaveProperty('onlyReads');
  });
});
