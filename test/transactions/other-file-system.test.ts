import { lstatSync, mkdtempSync, realpathSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Executor } from '../../src/contract/executor.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { whyNoTransactions } from './kept-apart.js';
import { placesHere } from './plan-maker.js';

const WHY_NOT =
  (await whyNoTransactions()) || (placesHere().includes('two file systems') ? '' : ' (one file system)');

describe.skipIf(WHY_NOT !== '')(`a root on another file system than the journal${WHY_NOT}`, () => {
  const around = realpathSync(mkdtempSync(join(tmpdir(), 'far-')));
  let root: string;
  let executor: Executor;
  beforeAll(() => {
    root = realpathSync(mkdtempSync('/dev/shm/far-'));
    executor = createExecutor({
      ...{ root, approver: null, journal: join(around, 'journal.db') },
      sandbox: { os: 'required', transactions: 'required' },
    });
  });
  afterAll(async () => {
    await executor.close();
    for (const path of [around, root]) removeTree(path);
  });

  async function run(command: string): Promise<string> {
    const result = await executor.execute('bash', { command });
    expect(result).toMatchObject({ success: true, metadata: { sandbox: { transaction: true } } });
    return result.callId;
  }

  const stat = (name: string) => lstatSync(join(root, name), { bigint: true });

  it('bug: a copy with the time of its source was older, so make built it again each time', async () => {
    for (const [index, seconds] of [1_700_000_000.08, 1_700_000_000.123_456_7, 1_600_000_000].entries()) {
      writeFileSync(join(root, `source${index}`), 'x');
      utimesSync(join(root, `source${index}`), seconds, seconds);
      await run(`cp -p source${index} copy${index}`);
      const later = stat(`copy${index}`).mtimeNs - stat(`source${index}`).mtimeNs;
      expect(later).toBeGreaterThanOrEqual(0n);
      expect(later).toBeLessThan(2000n);
    }
  });

  it('bug: new files with several names became several files', async () => {
    const callId = await run('echo x >new; ln new other; mkdir d; ln other d/third; echo x >alone');
    expect([stat('other').ino, stat('d/third').ino, stat('new').nlink]).toEqual([
      stat('new').ino,
      stat('new').ino,
      3n,
    ]);
    expect(stat('alone').nlink).toBe(1n);
    expect((await executor.undo(callId)).skipped).toEqual([]);
  });
});
