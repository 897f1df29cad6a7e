import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Acceptance, Journal } from '../../contract/journal.js';
import { openSqlite, type SqliteDatabase } from '../../platform/sqlite/sqlite.js';
import { batchEntry, callEntry, successOf, WORKER } from '../../testing/journal-entries.js';
import { openJournal } from '../open-journal.js';
import { pruneJournal } from '../prune-journal.js';
import { verifyJournal } from '../verify-journal.js';
import { GroupCommit } from './group-commit.js';
import { JournalDatabase } from './journal-database.js';
import { recordBatch } from './record-batch.js';
import { recordClaim, recordResult } from './record-progress.js';

let directory: string;
let path: string;
let journal: Journal;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
  path = join(directory, 'journal.db');
  journal = openJournal(path);
  await call(journal, 'first');
});

afterEach(async () => {
  await journal.close();
  rmSync(directory, { recursive: true });
});

function start(to: Journal, id: string): Promise<[readonly Acceptance[], boolean]> {
  const accepted = to.accept(batchEntry(id, [callEntry('x')], { worker: WORKER }));
  return Promise.all([accepted, to.claim(`${id}/0`, WORKER, 1)]);
}

async function call(to: Journal, id: string): Promise<void> {
  const [accepted, claimed] = await start(to, id);
  expect(accepted).toEqual([{ kind: 'fresh', key: `${id}/0` }]);
  expect(claimed).toBe(true);
  expect(await to.finish(`${id}/0`, successOf('x', id), 2, WORKER)).toBe('recorded');
}

/** The statements that run on a file that is already a journal. */
function recording(sqlite: SqliteDatabase, run: string[]): SqliteDatabase {
  return {
    ...sqlite,
    get inTransaction() {
      return sqlite.inTransaction;
    },
    prepare: (sql) => {
      const statement = sqlite.prepare(sql);
      const told = (...values: Parameters<typeof statement.run>): number => {
        run.push(sql.split(' (')[0] ?? sql);
        return statement.run(...values);
      };
      return { ...statement, run: told };
    },
  };
}

describe('a call whose caller is alone', () => {
  it('starts with one statement and ends with one', async () => {
    const run: string[] = [];
    const database = new JournalDatabase(recording(openSqlite(path), run));
    const commits = new GroupCommit({ open: () => database, busyTimeoutMs: 100, toError: () => new Error() });
    const callOnce = async (id: string): Promise<void> => {
      const accepted = commits.ask(recordBatch(batchEntry(id, [callEntry('x')])));
      expect(await commits.ask(recordClaim(`${id}/0`, WORKER, 1))).toBe(true);
      await accepted;
      expect(await commits.ask(recordResult(`${id}/0`, successOf('x', id), 2, WORKER))).toBe('recorded');
    };
    await callOnce('learns where the rows end');
    run.length = 0;
    await callOnce('b1');
    expect(run).toEqual([
      expect.stringContaining('INSERT INTO start_at_once'),
      expect.stringContaining('INSERT INTO end_at_once'),
    ]);
    commits.close();
    expect(await journal.call('b1/0')).toMatchObject({
      state: 'done',
      worker: WORKER,
      result: { output: 'b1' },
    });
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('continues after rows that another process wrote in the meantime', async () => {
    const other = openJournal(path);
    await call(other, 'theirs 1');
    await call(journal, 'ours 1');
    // Also between a start and its end.
    await start(journal, 'ours 2');
    await call(other, 'theirs 2');
    expect(await journal.finish('ours 2/0', successOf('x', 'ours 2'), 2, WORKER)).toBe('recorded');
    await Promise.all(['a', 'b', 'c'].map((id) => call(other, id)));
    await Promise.all(['d', 'e', 'f'].map((id) => call(journal, id)));
    for (const id of ['first', 'theirs 1', 'ours 1', 'ours 2', 'theirs 2', 'a', 'b', 'c', 'd', 'e', 'f']) {
      expect(await other.call(`${id}/0`)).toMatchObject({ state: 'done', result: { output: id } });
    }
    expect(verifyJournal(path)).toMatchObject({ intact: true });
    await other.close();
  });

  it('continues after the last row, even if another process has removed rows again', async () => {
    const other = openJournal(path);
    for (let number = 0; number < 5; number++) await call(other, `theirs ${number}`);
    await other.close();
    expect(await pruneJournal(path, { before: Date.now(), at: Date.now() })).toMatchObject({ calls: 5 });
    await call(journal, 'ours 1');
    await call(journal, 'ours 2');
    expect(verifyJournal(path)).toMatchObject({ intact: true, prunes: 1 });
  });

  it('is refused if its batch is known, and leaves nothing', async () => {
    await call(journal, 'b1');
    await expect(start(journal, 'b1')).rejects.toThrow(/b1/);
    expect(await journal.unfinished()).toEqual([]);
    await call(journal, 'b2');
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('has one result: a later outcome is a note', async () => {
    await start(journal, 'b1');
    expect(await journal.finish('b1/0', successOf('x', 'one'), 2, WORKER)).toBe('recorded');
    expect(await journal.finish('b1/0', successOf('x', 'two'), 3, WORKER)).toBe('late');
    expect(await journal.call('b1/0')).toMatchObject({ result: { output: 'one' } });
    expect(await journal.notes('b1/0')).toMatchObject([{ kind: 'late_result' }]);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });
});
