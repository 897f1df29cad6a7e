import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
    let count = 0;
    const watch = watchFiles([path, `${path}-wal`], () => count++);
    mkdirSync(join(folder, 'later'));
    writeFileSync(path, 'a');
    await expect.poll(() => count).toBe(1);
    writeFileSync(join(folder, 'later', 'journal.db-shm'), 'x');
    writeFileSync(`${path}-wal`, '');
    appendFileSync(path, 'b');
    await expect.poll(() => count).toBe(2);
    appendFileSync(`${path}-wal`, 'c');
    await expect.poll(() => count).toBe(3);
    watch.close();
  });

  it('tells of many changes in a row a few times, and of the last one', async () => {
    const path = join(folder, 'journal.db');
    let seen = 0;
    let size = 0;
    const watch = watchFiles([path], () => {
      seen = size;
    });
    for (let count = 0; count < 200; count++) {
      appendFileSync(path, 'x');
      size++;
    }
    await expect.poll(() => seen).toBe(200);
    watch.close();
  });
});
