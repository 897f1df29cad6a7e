import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../contract/journal.js';
import { batchEntry, callEntry, successOf, WORKER } from '../../testing/journal-entries.js';
import { openJournal } from '../open-journal.js';
import { verifyJournal } from '../verify-journal.js';

/** More rows than one statement writes, plus a rest. */
const CALLS = 21;
const IDS = Array.from({ length: CALLS }, (_, index) => `b${index}`);

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

const accept = (id: string): unknown => journal.accept(batchEntry(id, [callEntry('x')]));
const claim = (id: string): unknown => journal.claim(`${id}/0`, WORKER, 1);
const finish = (id: string): unknown => journal.finish(`${id}/0`, successOf('x', id), 2, WORKER);

describe('rows that are written together', () => {
  it('keep the values that each was written with', async () => {
    expect(await Promise.all(IDS.flatMap((id) => [accept(id), claim(id)]))).toHaveLength(2 * CALLS);
    expect(await Promise.all(IDS.map(finish))).toEqual(IDS.map(() => 'recorded'));
    for (const id of IDS) {
      expect(await journal.call(`${id}/0`)).toMatchObject({ state: 'done', result: { output: id } });
    }
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('count once for each call: a second result in the same commit is late, and all others are recorded', async () => {
    await Promise.all(IDS.map(accept));
    const again = IDS[9] ?? '';
    const asked = IDS.map(finish);
    const second = journal.finish(`${again}/0`, successOf('x', 'second'), 3, WORKER);
    expect(await Promise.all(asked)).toEqual(IDS.map(() => 'recorded'));
    expect(await second).toBe('late');
    expect(await journal.call(`${again}/0`)).toMatchObject({ result: { output: again } });
    expect(await journal.notes(`${again}/0`)).toMatchObject([{ kind: 'late_result' }]);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('reject only a batch whose id is known, and only a result with an invalid time', async () => {
    await Promise.all(IDS.slice(0, 10).map(accept));
    const settled = await Promise.allSettled([
      ...IDS.map(accept),
      journal.finish('b1/0', successOf('x'), Number.NaN, WORKER),
      finish('b20'),
    ]);
    expect(settled.map(({ status }) => status)).toEqual([
      ...IDS.map((_, index) => (index < 10 ? 'rejected' : 'fulfilled')),
      'rejected',
      'fulfilled',
    ]);
    expect(await journal.unfinished()).toHaveLength(CALLS - 1);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('are claimed once, and not after a result, even within one commit', async () => {
    const answers = await Promise.all([
      ...IDS.flatMap((id) => [accept(id), claim(id)]),
      claim('b3'),
      accept('answered'),
      finish('answered'),
      claim('answered'),
    ]);
    expect(answers.filter((answer) => answer === true)).toHaveLength(CALLS);
    expect(answers.slice(-4)).toMatchObject([false, [{ kind: 'fresh' }], 'recorded', false]);
    expect(await journal.call('answered/0')).toMatchObject({ state: 'done' });
    expect((await journal.call('answered/0'))?.worker).toBeUndefined();
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });
});
