import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../contract/journal.js';
import { openSqlite } from '../platform/sqlite/sqlite.js';
import { bundleProgram } from '../testing/fixtures/bundle-program.js';
import { IS_SOAK } from '../testing/fixtures/share-of-runs.js';
import { batchEntry, callEntry, successOf, WORKER } from '../testing/journal-entries.js';
import { openArchive } from './open-archive.js';
import { openJournal } from './open-journal.js';
import { verifyJournal } from './verify-journal.js';

const ROUNDS = IS_SOAK ? 25 : 10;

let path: string;
let opened: Journal[];

beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'alone-')), 'journal.db');
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map((journal) => journal.close()));
  rmSync(join(path, '..'), { recursive: true });
});

async function open(): Promise<Journal> {
  const journal = openJournal(path);
  opened.push(journal);
  await journal.batches();
  return journal;
}

function modeOf(): unknown {
  const database = openSqlite(path);
  const mode = database.prepare('PRAGMA journal_mode').get()?.journal_mode;
  database.close();
  return mode;
}

describe('a journal', () => {
  it('is alone with its file at every check, and continues in WAL mode', async () => {
    const journal = await open();
    for (const id of ['a', 'b', 'c']) {
      expect(await journal.isAlone?.()).toBe(true);
      const [answer] = await journal.accept(batchEntry(id, [callEntry('x')]));
      expect(await journal.claim(answer?.key ?? '', WORKER, 1)).toBe(true);
    }
    expect(modeOf()).toBe('wal');
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('is not alone beside another journal of the same process, even one that has long been idle', async () => {
    const journal = await open();
    const other = await open();
    expect([await journal.isAlone?.(), await other.isAlone?.()]).toEqual([false, false]);
  });

  it('holds its lock again after a check, even if it was not used since', async () => {
    const journal = await open();
    expect(await journal.isAlone?.()).toBe(true);
    expect(await (await open()).isAlone?.()).toBe(false);
  });

  it('is not alone beside a journal that only reads', async () => {
    const journal = await open();
    const archive = openArchive(path);
    expect(await journal.isAlone?.()).toBe(false);
    archive.close();
  });

  it('loses no write while several processes check', { tags: ['soak'] }, async () => {
    const journals = [await open(), await open(), await open()];
    await Promise.all(
      journals.map(async (journal, of) => {
        for (let at = 0; at < 20; at++) {
          const id = `${of}-${at}`;
          const looks = journal.isAlone?.();
          await journal.accept(batchEntry(id, [callEntry('x')]));
          await journal.finish(`${id}/0`, successOf('x'), 1, WORKER);
          expect(await looks).toBe(false);
        }
      }),
    );
    expect(await journals[0]?.batches()).toHaveLength(60);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('is not alone beside a process that has it open several times', { tags: ['soak'] }, async () => {
    const first = await open();
    await first.accept(batchEntry('b1', [callEntry('x')]));
    await open();
    expect(await timesAlone(startWriter('w', true, 1))).toBe(0);
    // Later writes reach the file.
    await first.accept(batchEntry('b2', [callEntry('x')]));
    expect(await (await open()).batches()).toHaveLength(3);
  });

  it('does not disturb another program that opens the file at the same time', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const writers = ['a', 'b', 'c'].map((name) => startWriter(name, true, ROUNDS));
    await Promise.all(writers.map(timesAlone));
    // No process holds a lock: the next one has the file for itself.
    expect(await timesAlone(startWriter('d', true, 1))).toBe(2);
    const journal = await open();
    expect(await journal.batches()).toHaveLength(3 * ROUNDS + 1);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('is alone again after the other process was killed, and has everything that it wrote', async () => {
    const writer = startWriter('w', false);
    await once(writer.stdout, 'data');
    const journal = await open();
    expect(await journal.isAlone?.()).toBe(false);
    writer.kill('SIGKILL');
    await once(writer, 'close');
    expect(await journal.isAlone?.()).toBe(true);
    expect(await journal.batches()).toHaveLength(50);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });
});

/**
 * Another process that writes batches and keeps the file open until its input ends, or opens it and looks in the
 * meantime.
 */
function startWriter(name: string, looks: boolean, length = 50) {
  const batches = Array.from({ length }, (_, at) => batchEntry(`${name}${at}`, [callEntry('x')]));
  const program = bundleProgram(join(import.meta.dirname, 'fixtures', 'write-and-look.mjs'));
  const args = ['--expose-gc', program, JSON.stringify({ path, batches, looks })];
  return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
}

/** How often the writer reported that it was alone, once it has ended successfully. */
async function timesAlone(writer: ReturnType<typeof startWriter>): Promise<number> {
  const [chunk] = (await once(writer.stdout, 'data')) as [Buffer];
  writer.stdin.end();
  expect(await once(writer, 'close')).toEqual([0, null]);
  return Number(chunk);
}
