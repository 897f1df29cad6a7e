import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createExecutor } from '../../src/executor/create-executor.js';
import { createDisks, type LoopDisk } from '../power-loss/loop-disks.js';
import { whyNoTransactions } from './kept-apart.js';

const disks = createDisks();
afterAll(() => disks.remove());
const WHY_NOT = disks.noDisk === undefined ? await whyNoTransactions() : ` (not tried: ${disks.noDisk})`;

/** Every file below a directory with its content. */
function filesBelow(root: string): Record<string, string> {
  const names = readdirSync(root, { recursive: true }).map(String).sort();
  const files = names.filter((name) => statSync(join(root, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(root, name), 'utf8')]));
}

const WRITE = 'mkdir new; seq 9000 >new/numbers; echo more >>old.txt; rm gone.txt; echo small >small.txt';

/** Runs a command and undoes it; returns the files before, and those on the disk after each answer. */
async function writeAndUndo(
  withRoot: LoopDisk,
  withJournal: LoopDisk,
): Promise<readonly Record<string, string>[]> {
  const root = join(withRoot.at, 'root');
  mkdirSync(root);
  for (const name of ['old.txt', 'gone.txt']) writeFileSync(join(root, name), `${name}\n`);
  withRoot.sync();
  const journal = join(withJournal.at, 'journal.db');
  const executor = createExecutor({ root, approver: null, journal, sandbox: { transactions: 'required' } });
  const onDisk = (): Record<string, string> => filesBelow(join(withRoot.afterPowerLoss(), 'root'));
  try {
    const before = onDisk();
    const [result] = await executor.run([{ id: 'w', name: 'bash', args: { command: WRITE } }]);
    expect(result?.error).toBeUndefined();
    const after = onDisk();
    expect(await executor.undo('w')).toMatchObject({ skipped: [] });
    return [before, after, onDisk()];
  } finally {
    await executor.close();
  }
}

describe.skipIf(WHY_NOT !== '')(
  `a loss of power after the answer to a command${WHY_NOT}`,
  { timeout: 180_000 },
  () => {
    it.each(['one file system', 'two file systems'])(
      'leaves all of its changes, and of its undo: %s',
      async (places) => {
        const disk = disks.make();
        const other = places === 'one file system' ? disk : disks.make();
        const before = { 'old.txt': 'old.txt\n', 'gone.txt': 'gone.txt\n' };
        const numbers = execFileSync('seq', ['9000'], { encoding: 'utf8' });
        expect(await writeAndUndo(disk, other)).toEqual([
          before,
          { 'new/numbers': numbers, 'old.txt': 'old.txt\nmore\n', 'small.txt': 'small\n' },
          before,
        ]);
      },
    );
  },
);
