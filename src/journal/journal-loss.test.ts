import { copyFileSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../contract/json.js';
import { batchEntry, callEntry, successOf, WORKER } from '../testing/journal-entries.js';
import { openArchive } from './open-archive.js';
import { openJournal } from './open-journal.js';
import { pruneJournal } from './prune-journal.js';
import { anchorPath, readAnchor } from './sqlite/journal-anchor.js';
import { acceptJournal, findJournalLoss, verifyJournal } from './verify-journal.js';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-loss-'));
  path = join(directory, 'journal.db');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const warnings: { readonly data: JsonObject; readonly message: string }[] = [];
beforeEach(() => {
  warnings.length = 0;
});
const logger = { warn: (data: JsonObject, message: string) => void warnings.push({ data, message }) };

/** Runs calls to their end, and leaves the journal open. */
async function record(ids: readonly string[], onLoss: 'warn' | 'refuse' = 'warn') {
  const journal = openJournal(path, { onLoss, logger });
  for (const id of ids) {
    await journal.accept(batchEntry(id, [callEntry('x')]));
    await journal.claim(`${id}/0`, WORKER, 1);
    await journal.finish(`${id}/0`, successOf('x', id), 2, WORKER);
  }
  return journal;
}

/** The files of a process that dies now, unchanged. */
function dieInto(name: string, ...suffixes: readonly string[]): string {
  const left = join(directory, name);
  for (const suffix of ['', ...suffixes]) copyFileSync(`${path}${suffix}`, `${left}${suffix}`);
  return left;
}

const lost = expect.objectContaining({ intact: false, lost: true });

describe('a journal that is older than its anchor', () => {
  it('is noticed if its write-ahead log was deleted or truncated', async () => {
    const journal = await record(['a', 'b', 'c']);
    const deleted = dieInto('deleted.db', '-head');
    const cut = dieInto('cut.db', '-head', '-wal');
    const whole = dieInto('whole.db', '-head', '-wal');
    await journal.close();
    truncateSync(`${cut}-wal`, statSync(`${cut}-wal`).size - 5000);
    expect(verifyJournal(deleted)).toEqual(lost);
    expect(verifyJournal(cut)).toEqual(lost);
    expect(verifyJournal(whole)).toMatchObject({ intact: true });
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('is noticed if it was deleted, or replaced by an older copy or by another journal', async () => {
    await (await record(['a'])).close();
    copyFileSync(path, join(directory, 'copy.db'));
    await (await record(['b', 'c'])).close();
    rmSync(path);
    expect(verifyJournal(path)).toEqual(lost);
    expect(findJournalLoss(path)).toContain('ends with commit 0');
    copyFileSync(join(directory, 'copy.db'), path);
    expect(findJournalLoss(path)).toContain('was recorded');
    const head = join(directory, 'kept-head');
    renameSync(anchorPath(path), head);
    await (await record(['x', 'y', 'z', 'further on'])).close();
    copyFileSync(head, anchorPath(path));
    expect(findJournalLoss(path)).toMatch(
      /its commit \d+ is not the one that was recorded|some of them were lost/,
    );
  });

  it('warns once and continues, and stays reported until it is accepted', async () => {
    await (await record(['a', 'b'])).close();
    for (const name of ['journal.db', 'journal.db-wal', 'journal.db-shm'])
      rmSync(join(directory, name), { force: true });
    const journal = await record(['c', 'd', 'e', 'f', 'g']);
    expect(warnings).toEqual([
      {
        data: { problem: 'journal_loss', path, recorded: expect.any(Number), held: 0 },
        message: expect.stringMatching(/may have lost commits: .*may run again.*verify --accept/),
      },
    ]);
    await journal.close();
    expect(verifyJournal(path)).toEqual(lost);
    expect(acceptJournal(path)).toMatchObject({ intact: true });
    expect(verifyJournal(path)).toMatchObject({ intact: true });
    await (await record(['h'])).close();
    expect(warnings).toHaveLength(1);
  });

  it('is refused if configured so, and stays unchanged', async () => {
    await (await record(['a', 'b'])).close();
    const before = readAnchor(path);
    rmSync(path);
    for (const attempt of ['first', 'second']) {
      await expect(record([attempt], 'refuse')).rejects.toMatchObject({ code: 'journal_unavailable' });
    }
    expect(readAnchor(path)).toEqual(before);
    expect(warnings).toEqual([]);
    acceptJournal(path);
    await (await record(['c'], 'refuse')).close();
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('is accepted even if its file is gone, and then nothing is left', async () => {
    await (await record(['a'])).close();
    rmSync(path);
    expect(acceptJournal(path)).toMatchObject({ intact: true, commits: 0 });
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is not accepted if its rows were changed', async () => {
    await (await record(['a'])).close();
    const { openSqlite } = await import('../platform/sqlite/sqlite.js');
    const database = openSqlite(path);
    database.exec("UPDATE results SET result = '{}'");
    database.close();
    expect(acceptJournal(path)).toMatchObject({ intact: false });
    expect(acceptJournal(path)).not.toHaveProperty('lost');
  });
});

describe('an anchor', () => {
  it('may be older than its journal, or gone, or torn', async () => {
    await (await record(['a'])).close();
    copyFileSync(anchorPath(path), join(directory, 'older'));
    await (await record(['b'])).close();
    copyFileSync(join(directory, 'older'), anchorPath(path));
    expect(verifyJournal(path)).toMatchObject({ intact: true });
    truncateSync(anchorPath(path), 20);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
    rmSync(anchorPath(path));
    expect(verifyJournal(path)).toMatchObject({ intact: true });
    await (await record(['c'])).close();
    expect(warnings).toEqual([]);
    expect(readAnchor(path).head?.commit).toBeGreaterThan(0);
  });

  it('follows a prune, and several writers', async () => {
    const one = await record(['a', 'b']);
    const other = await record(['c', 'd']);
    const before = await pruneJournal(path, { before: 1e15, at: 5_000 });
    expect(before.batches).toBeGreaterThan(0);
    await one.accept(batchEntry('e', [callEntry('x')]));
    await other.accept(batchEntry('f', [callEntry('x')]));
    await one.close();
    await other.close();
    await (await record(['g'])).close();
    expect(warnings).toEqual([]);
    expect(verifyJournal(path)).toMatchObject({ intact: true, prunes: 1 });
  });

  it('has 512 bytes, which only the owner can read, and records the end of the chain', async () => {
    const journal = await record(['a']);
    expect(statSync(anchorPath(path))).toMatchObject({ size: 512 });
    expect(statSync(anchorPath(path)).mode & 0o777).toBe(0o600);
    const verified = verifyJournal(path);
    expect(verified).toMatchObject({ intact: true, head: readAnchor(path).head?.hash });
    await journal.close();
  });
});

describe.skipIf(process.platform === 'win32')('a journal whose file is taken away while it is in use', () => {
  const gone = { code: 'journal_unavailable', message: expect.stringMatching(/removed or replaced/) };

  it('acknowledges no record that would be lost, and warns when it continues with a new file', async () => {
    const journal = await record(['a', 'b']);
    for (const name of readdirSync(directory).filter((file) => file !== 'journal.db-head'))
      rmSync(join(directory, name));
    await expect(journal.accept(batchEntry('c', [callEntry('x')]))).rejects.toMatchObject(gone);
    await journal.accept(batchEntry('d', [callEntry('x')]));
    expect(warnings).toHaveLength(1);
    await journal.close();
    expect(verifyJournal(path)).toEqual(lost);
    const archive = openArchive(path);
    expect(archive.batches().map(({ id }) => id)).toEqual(['d']);
    archive.close();
  });

  it('notices a file that was put in its place', async () => {
    await (await record(['a'])).close();
    copyFileSync(path, join(directory, 'copy.db'));
    const journal = await record(['b']);
    renameSync(join(directory, 'copy.db'), path);
    await expect(journal.finish('b/0', successOf('x'), 3, WORKER)).rejects.toMatchObject(gone);
    await journal.close();
  });

  it('notices if only its write-ahead log was removed', async () => {
    const journal = await record(['a', 'b']);
    rmSync(`${path}-wal`);
    await new Promise((resolve) => setTimeout(resolve, 60));
    await expect(journal.accept(batchEntry('c', [callEntry('x')]))).rejects.toMatchObject(gone);
    await journal.close();
  });

  it('raises no false alarm when it checks that it is alone', async () => {
    const journal = await record(['a']);
    for (const id of ['b', 'c', 'd']) {
      expect(await journal.isAlone?.()).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 60));
      await journal.accept(batchEntry(id, [callEntry('x')]));
    }
    await journal.close();
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });
});
