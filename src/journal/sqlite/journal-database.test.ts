import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { batchEntry, callEntry, successOf, WORKER } from '../../testing/journal-entries.js';
import { verifyJournal } from '../verify-journal.js';
import { GroupCommit, type Operation } from './group-commit.js';
import type { JournalDatabase } from './journal-database.js';
import { openJournalDatabase } from './open-journal-database.js';
import { findByKey } from './read-calls.js';
import { recordBatch } from './record-batch.js';
import { recordClaim, recordResult } from './record-progress.js';

let directory: string;
let path: string;
let database: JournalDatabase;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
  path = join(directory, 'journal.db');
  database = openJournalDatabase(path);
});

afterEach(() => {
  database.close();
  rmSync(directory, { recursive: true });
});

function commit(to: JournalDatabase, ...operations: readonly Operation<unknown>[]): unknown[] {
  to.begin();
  const answers = operations.map((operation) => operation.run(to));
  to.commit();
  return answers;
}

const accept = (id: string): Operation<unknown> => recordBatch(batchEntry(id, [callEntry('x')]));

describe('JournalDatabase', () => {
  it('forgets the row number of a call whose transaction was rolled back', () => {
    database.begin();
    accept('b1').run(database);
    expect(recordClaim('b1/0', WORKER, 1).run(database)).toBe(true);
    database.rollback();
    // Uses the numbers that have become free.
    commit(database, accept('b2'));
    expect(commit(database, recordClaim('b1/0', WORKER, 1))).toEqual([false]);
    expect(() => commit(database, recordResult('b1/0', successOf('x'), 2, WORKER))).toThrow(/b1\/0/);
    database.rollback();
    expect(findByKey(database, 'b2/0')).toMatchObject({ state: 'queued' });
  });

  it('claims the right call if another process writes between a rollback and the second attempt', async () => {
    const other = openJournalDatabase(path);
    const commits = new GroupCommit({
      open: () => database,
      busyTimeoutMs: 100,
      toError: (error) => {
        commit(other, accept('theirs'));
        return error instanceof Error ? error : new Error(String(error));
      },
    });
    const settled = await Promise.allSettled([
      commits.ask(accept('ours')),
      commits.ask(recordClaim('ours/0', WORKER, 1)),
      commits.ask(recordResult('nobody/0', successOf('x'), 2, WORKER)),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(findByKey(other, 'ours/0')).toMatchObject({ state: 'running', worker: WORKER });
    expect(findByKey(other, 'theirs/0')).toMatchObject({ state: 'queued' });
    expect(verifyJournal(path)).toMatchObject({ intact: true });
    other.close();
  });

  it('knows the row number of a call in the open transaction without reading the file', () => {
    database.begin();
    accept('b1').run(database);
    expect(database.numberOf('b1/0')).toBe(2);
    expect(database.numberOf('b1/1')).toBeUndefined();
    database.commit();
    expect(database.numberOf('b1/0')).toBe(2);
  });

  it('has no row number for an attached delivery, before its commit and afterwards', () => {
    const attaching = (id: string): Operation<unknown> =>
      recordBatch(batchEntry(id, [callEntry('x')], { attach: true }));
    commit(database, attaching('b1'));
    database.begin();
    attaching('b2').run(database);
    expect(database.numberOf('b2/0')).toBeUndefined();
    database.commit();
    expect(database.numberOf('b2/0')).toBeUndefined();
    expect(commit(database, recordClaim('b2/0', WORKER, 1))).toEqual([false]);
  });
});
