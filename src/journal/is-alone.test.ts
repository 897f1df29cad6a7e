import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../contract/journal.js';
import { openSqlite } from '../platform/sqlite.js';
import { batchEntry, callEntry, successOf, WORKER } from '../testing/journal-entries.js';
import { openArchive } from './open-archive.js';
import { openJournal } from './open-journal.js';
import { verifyJournal } from './verify-journal.js';

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
  it('is alone with its file, again and again, and goes on in WAL mode', async () => {
    const journal = await open();
    for (const id of ['a', 'b', 'c']) {
      expect(await journal.isAlone?.()).toBe(true);
      const [answer] = await journal.accept(batchEntry(id, [callEntry('x')]));
      expect(await journal.claim(answer?.key ?? '', WORKER, 1)).toBe(true);
    }
    expect(modeOf()).toBe('wal');
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('is not alone beside another of the same process, also one that has done nothing for long', async () => {
    const journal = await open();
    const other = await open();
    expect([await journal.isAlone?.(), await other.isAlone?.()]).toEqual([false, false]);
  });

  it('holds its lock again after it has looked, though nothing was asked of it since', async () => {
    const journal = await open();
    expect(await journal.isAlone?.()).toBe(true);
    expect(await (await open()).isAlone?.()).toBe(false);
  });

  it('is not alone beside one that only reads', async () => {
    const journal = await open();
    const archive = openArchive(path);
    expect(await journal.isAlone?.()).toBe(false);
    archive.close();
  });

  it('loses nothing of what several write while they look', async () => {
    const journals = [await open(), await open(), await open()];
    await Promise.all(
      journals.map(async (journal, of) => {
        for (let at = 0; at < 20; at++) {
          const id = `${of}-${at}`;
          const looks = journal.isAlone?.();
          await journal.accept(batchEntry(id, [callEntry('x')]));
          await journal.finish(`${id}/0`, successOf('x'), 1);
          expect(await looks).toBe(false);
        }
      }),
    );
    expect(await journals[0]?.batches()).toHaveLength(60);
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('is alone again when the other process was killed, with all that it had written', async () => {
    const batches = Array.from({ length: 50 }, (_, at) => batchEntry(`b${at}`, [callEntry('x')]));
    const order = JSON.stringify({ door: new URL('open-journal.ts', import.meta.url).href, path, batches });
    const args = ['--import', 'tsx', '--input-type=module', '-e', WRITER, order];
    const writer = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
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

const WRITER = `
const { door, path, batches } = JSON.parse(process.argv[1]);
const { openJournal } = await import(door);
const journal = openJournal(path);
for (const batch of batches) await journal.accept(batch);
console.log('written');
setInterval(() => {}, 1000);
`;
