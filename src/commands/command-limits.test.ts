import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CommandLimits, CommandRequest, Confinement, ShellSnapshot } from '../contract/processes.js';
import { findLimitHit } from './command-limits.js';
import { living, sleepToken } from './fixtures/nasty-trees.js';
import { WHY_NO_SANDBOX } from './fixtures/sandbox-here.js';
import { runCommand } from './run-command.js';
import { ShellPool } from './shell-manager.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'limits-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const NOTHING = { hidden: [], readOnly: [], missing: [], incomplete: false };
const SANDBOX: Confinement = {
  os: 'required',
  network: false,
  roots: [root],
  readable: [],
  guarded: () => NOTHING,
};
const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
const BUSY = 'while :; do :; done';

for (const [where, confinement] of Object.entries({
  plain: undefined,
  [`inside the sandbox${WHY_NO_SANDBOX}`]: SANDBOX,
})) {
  const around = confinement === undefined ? {} : { confinement };
  const run = (command: string, limits: CommandLimits, more: Partial<CommandRequest> = {}) =>
    runCommand({
      shell: 'bash',
      command,
      cwd: root,
      env,
      signal: AbortSignal.timeout(20_000),
      keepBytes: 1 << 20,
      limits,
      ...around,
      ...more,
    });

  describe.skipIf(confinement !== undefined && WHY_NO_SANDBOX !== '')(
    `a limited command, ${where}`,
    { timeout: 180_000 },
    () => {
      it('behaves as without limits until it reaches one', async () => {
        const limits = { cpuSeconds: 100, memoryMb: 4000, processes: 100, fileSizeMb: 100 };
        const outcome = await run('echo "$0"; pwd; echo x > file; echo err >&2; exit 3', limits);
        expect(outcome).toMatchObject({
          exitCode: 3,
          stdout: { head: `bash\n${root}\n` },
          stderr: { head: 'err\n' },
        });
        expect(outcome.limit).toBeUndefined();
        expect((await run('echo "$0"; kill -9 $$', limits, { shell: 'sh' })).signal).toBe('SIGKILL');
      });

      // The command uses the processor for that long.
      it('is ended when a process has used up its processor time', { tags: ['soak'] }, async () => {
        expect(await run(BUSY, { cpuSeconds: 1 })).toMatchObject({
          signal: 'SIGXCPU',
          limit: { limit: 'cpuSeconds', max: 1 },
        });
        expect(await run(`bash -c '${BUSY}'; exit $?`, { cpuSeconds: 1 })).toMatchObject({
          exitCode: 152,
          limit: { limit: 'cpuSeconds', max: 1 },
        });
      });

      it('gets no more memory and no larger files than allowed', async () => {
        expect(await run('tail -c +1 /dev/zero | tail', { memoryMb: 100 })).toMatchObject({
          exitCode: 1,
          limit: { limit: 'memoryMb', max: 100 },
        });
        expect(await run('head -c 3000000 /dev/zero > big', { fileSizeMb: 1 })).toMatchObject({
          limit: { limit: 'fileSizeMb', max: 1 },
        });
        expect(statSync(join(root, 'big')).size).toBe(1024 * 1024);
      });

      it('is ended with all its child processes if they are too many', async () => {
        const token = sleepToken();
        const command = `for i in $(seq 40); do sleep ${token} & done; wait`;
        expect(await run(command, { processes: 30 })).toMatchObject({
          aborted: false,
          limit: { limit: 'processes', max: 30 },
          survivors: [],
        });
        expect(living(token)).toEqual([]);
        expect((await run('for i in $(seq 20); do sleep 0.3 & done; wait', { processes: 30 })).exitCode).toBe(
          0,
        );
      });

      it('is reported for background commands too', { tags: ['soak'] }, async () => {
        const pool = new ShellPool();
        const shell = await pool.createShell(BUSY, root, { env, limits: { cpuSeconds: 1 }, ...around });
        await shell.wait(20_000);
        const told: Partial<ShellSnapshot> = {
          status: 'failed',
          signal: 'SIGXCPU',
          limit: { limit: 'cpuSeconds', max: 1 },
        };
        expect(shell.snapshot()).toMatchObject(told);
      });
    },
  );
}

describe('findLimitHit()', () => {
  it('blames no limit that is not set, and none for a success', () => {
    const said = 'Cannot allocate memory';
    expect(findLimitHit({}, { exitCode: 1, signal: null }, said)).toBeUndefined();
    expect(findLimitHit({ memoryMb: 1 }, { exitCode: 0, signal: null }, said)).toBeUndefined();
    expect(
      findLimitHit({ cpuSeconds: 1, fileSizeMb: 2 }, { exitCode: 1, signal: null }, said),
    ).toBeUndefined();
    expect(findLimitHit({ memoryMb: 1 }, { exitCode: 1, signal: null }, said)).toEqual({
      limit: 'memoryMb',
      max: 1,
    });
  });
});
