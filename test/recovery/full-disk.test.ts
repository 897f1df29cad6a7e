import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { bundleProgram } from '../../src/testing/fixtures/bundle-program.js';
import { whyNoTransactions } from '../transactions/kept-apart.js';

const WHY_NOT = await whyNoTransactions();
const PROGRAM = resolve(import.meta.dirname, 'full-disk-program.ts');

const DISKS = { written: '', appended: '', edited: '', patched: '', crowded: ',nr_inodes=4' };

it.skipIf(WHY_NOT !== '')(
  `a file tool on a full disk changes nothing, leaves nothing, and says executed: no${WHY_NOT}`,
  async () => {
    const around = realpathSync(mkdtempSync(join(tmpdir(), 'full-disk-')));
    for (const name of [...Object.keys(DISKS), 'state']) mkdirSync(join(around, name), { mode: 0o700 });
    const script = [
      ...Object.entries(DISKS).map(
        ([disk, more]) => `mount -t tmpfs -o size=1m,mode=700${more} none "${join(around, disk)}"`,
      ),
      `"${process.execPath}" "${bundleProgram(PROGRAM)}" "${around}"`,
    ].join(' && ');
    const { stdout } = await promisify(execFile)('unshare', ['-rm', 'sh', '-c', script]);
    const nothing = {
      error: expect.objectContaining({
        code: 'execution_failed',
        details: expect.objectContaining({ errno: 'ENOSPC', executed: 'no' }),
      }),
      names: ['there'],
    };
    expect(JSON.parse(stdout)).toEqual(Object.fromEntries(Object.keys(DISKS).map((disk) => [disk, nothing])));
    removeTree(around);
  },
  60_000,
);
