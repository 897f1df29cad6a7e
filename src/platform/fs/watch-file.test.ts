import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { watchFiles } from './watch-file.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolexec-watch-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('watchFiles()', () => {
  it('tells of a file that is made in a directory that is made later, and of each change', async () => {
    const path = join(folder, 'later', 'journal.db');
    const seen: string[] = [];
    const watch = watchFiles([path, `${path}-wal`], () => {
      const texts = [path, `${path}-wal`].map((file) =>
        existsSync(file) ? readFileSync(file, 'utf8') : '-',
      );
      seen.push(texts.join(' '));
    });
    mkdirSync(join(folder, 'later'));
    writeFileSync(path, 'a');
    await expect.poll(() => seen.at(-1)).toBe('a -');
    writeFileSync(`${path}-wal`, '');
    appendFileSync(path, 'b');
    await expect.poll(() => seen.at(-1)).toBe('ab ');
    appendFileSync(`${path}-wal`, 'c');
    await expect.poll(() => seen.at(-1)).toBe('ab c');
    watch.close();
  });

  it('tells of many changes in a row a few times, and of the last one', async () => {
    const path = join(folder, 'journal.db');
    let seen = 0;
    let calls = 0;
    const watch = watchFiles([path], () => {
      seen = existsSync(path) ? readFileSync(path).length : 0;
      calls++;
    });
    for (let count = 0; count < 200; count++) appendFileSync(path, 'x');
    await expect.poll(() => seen).toBe(200);
    expect(calls).toBeLessThan(20);
    watch.close();
  });

  it('misses no write that looks like the one before: of the same size, in the same tick of the clock', async () => {
    const path = join(folder, 'journal.db');
    const write = (text: string): void => {
      writeFileSync(path, text);
      utimesSync(path, 1, 1);
    };
    let seen = '';
    const watch = watchFiles([path], () => {
      seen = existsSync(path) ? readFileSync(path, 'utf8') : '';
      // Directly after the check, as if no time had passed.
      if (seen === 'one') write('two');
    });
    write('one');
    await expect.poll(() => seen).toBe('two');
    watch.close();
  });
});
