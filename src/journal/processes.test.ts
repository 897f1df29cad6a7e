import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../contract/journal.js';
import { bundleProgram } from '../testing/fixtures/bundle-program.js';
import { batchEntry, callEntry } from '../testing/journal-entries.js';
import { openJournal } from './open-journal.js';
import { verifyJournal } from './verify-journal.js';

const fixture = (name: string): string =>
  bundleProgram(fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url)));
const PROGRAMS = {
  'claim-all.mjs': fixture('claim-all.mjs'),
  'write-until-killed.mjs': fixture('write-until-killed.mjs'),
};

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
  path = join(directory, 'journal.db');
});

afterEach(() => rmSync(directory, { recursive: true }));

describe('a journal that several processes use', () => {
  it('gives each call to only one of them', async () => {
    const journal = openJournal(path);
    const entries = Array.from({ length: 150 }, (_, index) => callEntry(`x${index}`));
    const answers = await journal.accept(batchEntry('b1', entries));
    const won = await Promise.all(
      ['one', 'two', 'three'].map(async (name): Promise<unknown> => {
        return JSON.parse(await text(start('claim-all.mjs', name).stdout));
      }),
    );
    expect(won.flat().sort()).toEqual(answers.map(({ key }) => key).sort());
    for (const { state, worker, result } of await journal.batch('b1')) {
      expect([state, result?.output]).toEqual(['done', worker?.id]);
    }
    expect(await journal.unfinished()).toEqual([]);
    await journal.close();
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('loses no acknowledged record, even if they are killed at any instant', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const acknowledged: string[] = [];
    // On a busy machine each round records less before the kill.
    for (let round = 0; round < 2 || acknowledged.length <= 100; round++) {
      const writers = Array.from({ length: 4 }, (_, index) => writeUntilKilled(`r${round}w${index}`));
      acknowledged.push(...(await Promise.all(writers)).flat());
    }
    const journal = openJournal(path);
    const lost: string[] = [];
    for (const line of acknowledged) if (!(await holds(journal, line))) lost.push(line);
    expect(lost).toEqual([]);
    for (const { batchId } of await journal.unfinished())
      expect(await journal.batch(batchId)).toHaveLength(2);
    await journal.close();
    expect(verifyJournal(path)).toMatchObject({ intact: true });
  });
});

/** The lines that a writer had printed when it was killed, up to 80 ms after its first line. */
async function writeUntilKilled(name: string): Promise<string[]> {
  const writer = start('write-until-killed.mjs', name);
  let said = '';
  writer.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (said === '') setTimeout(() => writer.kill('SIGKILL'), Math.random() * 80);
    said += chunk;
  });
  const [, signal] = await once(writer, 'close');
  expect(signal).toBe('SIGKILL');
  // The text after the last line break is incomplete.
  return said.split('\n').slice(0, -1);
}

async function holds(journal: Journal, line: string): Promise<boolean> {
  const [what, key]: [string, string] = JSON.parse(line);
  if (what === 'noted') return (await journal.notes(key)).length === 1;
  const call = await journal.call(key);
  if (what === 'finished') return call?.result?.output.startsWith('x') === true;
  if (what === 'claimed') return call?.worker !== undefined;
  return call !== undefined;
}

function start(fixture: keyof typeof PROGRAMS, name: string): ChildProcessByStdio<null, Readable, null> {
  return spawn(process.execPath, [PROGRAMS[fixture], path, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
