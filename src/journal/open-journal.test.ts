import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unprivileged } from '../platform/fixtures/unprivileged.js';
import { openSqlite } from '../platform/sqlite/sqlite.js';
import { describeJournal } from '../testing/describe-journal.js';
import { batchEntry, callEntry, successOf, WORKER } from '../testing/journal-entries.js';
import { openJournal } from './open-journal.js';
import { pruneJournal } from './prune-journal.js';
import { MIGRATIONS } from './sqlite/migrations.js';
import { verifyJournal } from './verify-journal.js';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

describeJournal(
  'openJournal() of a file',
  () => {
    const path = join(directory, 'journal.db');
    const upkeep = {
      verify: () => verifyJournal(path).intact,
      prune: (before: number) => pruneJournal(path, { before, at: 5_000 }),
    };
    return { journal: openJournal(path), open: () => openJournal(path), upkeep };
  },
  { describe, it },
);

describeJournal('openJournal() in memory', () => ({ journal: openJournal(':memory:') }), { describe, it });

const unavailable = (...parts: string[]): object =>
  expect.objectContaining({
    code: 'journal_unavailable',
    message: expect.stringMatching(new RegExp(parts.map((part) => part.replaceAll('.', '\\.')).join('.*'))),
  });

describe('openJournal()', () => {
  it('touches no file before its first use, and none if it is closed unused', async () => {
    const path = join(directory, 'new', 'journal.db');
    const journal = openJournal(path);
    await journal.sync();
    await journal.close();
    expect(existsSync(join(directory, 'new'))).toBe(false);
  });

  it('creates its file and directories for the owner only, whatever the umask', async () => {
    const path = join(directory, 'a', 'b', 'journal.db');
    const before = process.umask(0);
    const journal = openJournal(path);
    await journal.accept(batchEntry('b1', [callEntry('x')]));
    process.umask(before);
    const modes = ['a', 'a/b', 'a/b/journal.db', 'a/b/journal.db-wal', 'a/b/journal.db-shm'].map((name) =>
      (statSync(join(directory, name)).mode & 0o777).toString(8),
    );
    expect(modes).toEqual(['700', '700', '600', '600', '600']);
    await journal.close();
  });

  it('says whether it is durable', () => {
    expect(openJournal(join(directory, 'journal.db')).durable).toBe(true);
    expect(openJournal(':memory:').durable).toBe(false);
  });

  it('writes in WAL mode and syncs every commit', async () => {
    const path = join(directory, 'journal.db');
    const journal = openJournal(path);
    await journal.accept(batchEntry('b1', []));
    const database = openSqlite(path);
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
    await journal.close();
  });

  it.skipIf(!existsSync('/proc/locks'))(
    'keeps its lock when its process opens the file a second time',
    async () => {
      const path = join(directory, 'journal.db');
      const locks = () => {
        const held = readFileSync('/proc/locks', 'latin1').split('\n');
        return held.filter(
          (line) => line.includes(` ${process.pid} `) && line.includes(`:${statSync(path).ino} `),
        );
      };
      const first = openJournal(path);
      await first.batches();
      expect(locks().length).toBeGreaterThan(0);
      const second = openJournal(path);
      await second.batches();
      // A lock of a statement may have come and gone; if the process had closed the file, there would be none.
      expect(locks().length).toBeGreaterThan(0);
      await first.close();
      await second.close();
    },
  );

  it('is a single file after closing, which can be copied', async () => {
    const path = join(directory, 'journal.db');
    const journal = openJournal(path);
    await journal.accept(batchEntry('b1', [callEntry('x')]));
    await journal.close();
    const copy = join(directory, 'copy.db');
    copyFileSync(path, copy);
    const copied = openJournal(copy);
    expect((await copied.batches()).map(({ id }) => id)).toEqual(['b1']);
    await copied.close();
  });

  it('leaves a database of another program unchanged', async () => {
    const path = join(directory, 'other.db');
    const database = openSqlite(path);
    database.exec("CREATE TABLE mine (a TEXT); INSERT INTO mine VALUES ('kept')");
    database.close();
    const before = readFileSync(path);
    const journal = openJournal(path);
    await expect(journal.accept(batchEntry('b1', []))).rejects.toThrow(
      unavailable(path, 'another program', 'Choose'),
    );
    await journal.close();
    expect(readFileSync(path)).toEqual(before);
  });

  it('leaves a file of a newer version unchanged', async () => {
    const path = join(directory, 'journal.db');
    const old = openJournal(path);
    await old.accept(batchEntry('b1', [callEntry('x')]));
    await old.close();
    const database = openSqlite(path);
    database.exec('PRAGMA user_version = 99');
    const journal = openJournal(path);
    await expect(journal.unfinished()).rejects.toThrow(unavailable(path, 'newer version', '99', 'Update'));
    expect(database.prepare('SELECT count(*) AS calls FROM calls').get()).toEqual({ calls: 1 });
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    database.close();
    // The refusal is not remembered: once repaired, the file works again.
    expect(await journal.unfinished()).toHaveLength(1);
    await journal.close();
  });

  it.each([
    ['text', 'this is no database, but a text that is long enough to be looked at'.repeat(10)],
    ['a database cut in half', ''],
  ])('leaves a damaged file unchanged: %s', async (what, content) => {
    const path = join(directory, 'journal.db');
    writeFileSync(path, content);
    if (what !== 'text') {
      const old = openJournal(path);
      await old.accept(batchEntry('b1', [callEntry('x', { text: 'x'.repeat(50_000) })]));
      await old.close();
      const database = openSqlite(path);
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      database.close();
      const whole = readFileSync(path);
      rmSync(`${path}-wal`, { force: true });
      rmSync(`${path}-shm`, { force: true });
      writeFileSync(path, whole.subarray(0, 8192));
    }
    const before = readFileSync(path);
    const journal = openJournal(path);
    await expect(journal.unfinished()).rejects.toThrow(unavailable(path, 'damaged', 'Restore'));
    await expect(journal.accept(batchEntry('b2', []))).rejects.toThrow(unavailable(path));
    await journal.close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('says what is wrong with its path, and works as soon as that is repaired', async () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    const below = openJournal(join(file, 'journal.db'));
    await expect(below.accept(batchEntry('b1', []))).rejects.toThrow(
      unavailable('file/journal.db', 'not a directory'),
    );
    rmSync(file);
    await below.accept(batchEntry('b1', [callEntry('x')]));
    expect(await below.unfinished()).toHaveLength(1);
    await below.close();

    const at = openJournal(directory);
    await expect(at.claim('b1/0', WORKER, 1)).rejects.toThrow(unavailable(directory, 'is a directory'));
    await at.close();
  });

  it.skipIf(process.platform === 'win32')('refuses a path that it may not write to', () =>
    unprivileged(async () => {
      const place = mkdtempSync(join(tmpdir(), 'journal-closed-'));
      chmodSync(place, 0o500);
      const journal = openJournal(join(place, 'journal.db'));
      await expect(journal.accept(batchEntry('b1', []))).rejects.toThrow(
        unavailable('cannot be written', 'Make'),
      );
      await journal.close();
      rmSync(place, { recursive: true });
    }),
  );

  it('rejects only the record that is not JSON', async () => {
    const journal = openJournal(join(directory, 'journal.db'));
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const good = journal.accept(batchEntry('b1', [callEntry('x')]));
    const bad = journal.accept(batchEntry('b2', [{ ...callEntry('y'), args: circular as never }]));
    await expect(bad).rejects.toThrow(unavailable('cannot be recorded'));
    await good;
    await expect(journal.claim('b1/0', WORKER, Number.NaN)).rejects.toThrow(
      unavailable('cannot be recorded'),
    );
    expect(await journal.claim('b1/0', WORKER, 1)).toBe(true);
    await journal.close();
  });

  it('refuses only the result for a key that it never issued', async () => {
    const journal = openJournal(join(directory, 'journal.db'));
    await journal.accept(batchEntry('b1', [callEntry('x')]));
    const asked = await Promise.allSettled([
      journal.finish('b1/7', successOf('x'), 1, WORKER),
      journal.finish('b1/0', successOf('x'), 1, WORKER),
    ]);
    expect(asked).toMatchObject([{ reason: unavailable('b1/7') }, { value: 'recorded' }]);
    await journal.close();
  });

  it('keeps large texts once', async () => {
    const path = join(directory, 'journal.db');
    const journal = openJournal(path);
    await journal.accept(batchEntry('b1', [callEntry('x'), callEntry('y')]));
    const output = 'large '.repeat(20_000);
    await journal.finish('b1/0', successOf('same', output), 1, WORKER);
    await journal.finish('b1/1', successOf('same', output), 1, WORKER);
    const database = openSqlite(path);
    expect(database.prepare('SELECT size FROM blobs').all()).toHaveLength(1);
    expect(database.prepare('SELECT count(*) AS inline FROM results WHERE result IS NOT NULL').get()).toEqual(
      { inline: 0 },
    );
    database.exec("UPDATE blobs SET content = x'00'");
    database.close();
    await expect(journal.call('b1/0')).rejects.toThrow(unavailable('damaged'));
    await journal.close();
  });

  it('returns any arguments and texts unchanged', async () => {
    const journal = openJournal(':memory:');
    let batches = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
        fc.string({ unit: 'binary' }),
        async (args, text) => {
          const plain = JSON.parse(JSON.stringify(args));
          const id = `b${batches++}`;
          const entry = { ...callEntry(text, plain), toolName: text };
          const [answer] = await journal.accept(batchEntry(id, [entry], { conversation: text }));
          expect(await journal.call(answer?.key ?? '')).toMatchObject({
            callId: text,
            toolName: text,
            args: plain,
          });
          expect(await journal.find(text, text)).toMatchObject({ conversation: text });
        },
      ),
      { numRuns: 200 },
    );
    await journal.close();
  });

  it('refuses bad options', () => {
    const invalid = expect.objectContaining({ code: 'config_invalid' });
    expect(() => openJournal('')).toThrow(invalid);
    expect(() => openJournal('x.db', { busyTimeoutMs: -1 })).toThrow(invalid);
    expect(() => openJournal('x.db', { busyTimeoutMs: Number.NaN })).toThrow(invalid);
    // From JavaScript.
    for (const path of [1, null, {}, { path: 'x.db' }])
      expect(() => openJournal(path as never)).toThrow(invalid);
    for (const options of [
      { onloss: 'refuse' },
      { onLoss: 'never' },
      { logger: 1 },
      { redactArguments: 1 },
    ]) {
      expect(() => openJournal('x.db', options as never)).toThrow(invalid);
    }
  });

  it('waits for another writer, then reports it', async () => {
    const path = join(directory, 'journal.db');
    const journal = openJournal(path, { busyTimeoutMs: 300 });
    await journal.accept(batchEntry('b1', [callEntry('x'), callEntry('y')]));
    const other = openSqlite(path);

    other.exec('BEGIN IMMEDIATE');
    setTimeout(() => other.exec('COMMIT'), 50);
    expect(await journal.claim('b1/0', WORKER, 1)).toBe(true);

    other.exec('BEGIN IMMEDIATE');
    const askedAt = performance.now();
    const asked = [journal.claim('b1/1', WORKER, 1), journal.unfinished()];
    const [claim, read] = await Promise.allSettled(asked);
    expect(claim).toMatchObject({ reason: unavailable(path, 'another process') });
    // Elapsed time, not a count of attempts: on a busy machine each attempt takes longer than the pause between two.
    expect(performance.now() - askedAt).toBeGreaterThanOrEqual(300);
    expect(read).toMatchObject({ reason: unavailable(path, 'another process') });
    expect(await journal.unfinished()).toHaveLength(2);
    other.exec('ROLLBACK');

    expect(await journal.claim('b1/1', WORKER, 2)).toBe(true);
    other.close();
    await journal.close();
  });
});
