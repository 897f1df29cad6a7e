import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { bundleProgram } from '../../src/testing/fixtures/bundle-program.js';
import { IS_SOAK } from '../../src/testing/fixtures/share-of-runs.js';
import { createDisks } from '../power-loss/loop-disks.js';

const PROGRAMS = resolve(import.meta.dirname, '../power-loss');

const disks = createDisks();
const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
const WHY_NOT = disks.noDisk ?? (canTrace ? undefined : 'strace may not trace here');
disks.remove();
const folder = mkdtempSync(join(tmpdir(), 'toolexec-cuts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Of the hundreds of moments at which the power may go. */
const CUTS = IS_SOAK ? 100_000 : 7;

describe.skipIf(WHY_NOT !== undefined)(
  `a loss of power in a commit${WHY_NOT === undefined ? '' : ` (not tried: ${WHY_NOT})`}`,
  { timeout: 1_800_000 },
  () => {
    it.each([
      ['file system', 'two file systems'],
      ['mount of the same file system', 'two mounts'],
    ])('leaves all of its changes or none, if the root is on another %s', async (_, places) => {
      const [cutCommits = '', commitPlan = ''] = ['cut-commits.ts', 'commit-plan.ts'].map((name) =>
        bundleProgram(join(PROGRAMS, name)),
      );
      const program = [process.execPath, cutCommits, places, `${CUTS}`, commitPlan, folder];
      const { stdout } = await promisify(execFile)('unshare', ['-m', '--propagation', 'private', ...program]);
      expect(JSON.parse(stdout)).toEqual([]);
    });
  },
);
