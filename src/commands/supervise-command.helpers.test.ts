import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from './run-command.js';
import { openBackgroundShells } from './shell-manager.js';
import { useCommandHelpers } from './supervise-command.js';

const PATH = '/usr/local/bin:/usr/bin:/bin';

async function run(command: string): Promise<string> {
  const signal = AbortSignal.timeout(15_000);
  const request = { command, cwd: tmpdir(), env: { PATH }, signal, keepBytes: 1000 };
  return (await runCommand({ shell: 'sh', ...request })).stdout.head;
}

/** The helpers of this program that start or supervise commands. */
function helpers(): string[] {
  return helperIds().map(commandLine);
}

function helperIds(): number[] {
  return readdirSync('/proc/self/task')
    .flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'latin1').split(' '))
    .map(Number)
    .filter((pid) => pid > 0 && commandLine(pid).includes('toolexec'));
}

const commandLine = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'latin1');

async function runUntilAllHelp(): Promise<void> {
  await run('true');
  await expect.poll(async () => (await run('echo $PPID')) !== `${process.pid}\n`).toBe(true);
  expect(helpers()).toHaveLength(2);
}

describe.skipIf(process.platform !== 'linux')(
  'the helper processes of useCommandHelpers() (skipped where there is no /proc)',
  () => {
    it('ends them with their last user, and not before', async () => {
      const [first, second] = [useCommandHelpers(), useCommandHelpers()];
      await runUntilAllHelp();
      await first();
      await first();
      expect(helpers()).toHaveLength(2);
      await second();
      expect(helpers()).toEqual([]);
    });

    it('starts them again each time they are needed', async () => {
      for (let round = 0; round < 7; round++) {
        const release = useCommandHelpers();
        await runUntilAllHelp();
        await release();
        expect(helpers()).toEqual([]);
      }
    });

    it('keeps them for a running command', async () => {
      const release = useCommandHelpers();
      await runUntilAllHelp();
      const place = mkdtempSync(join(tmpdir(), 'helpers-'));
      const running = run(`: >"${place}/runs"; until [ -e "${place}/end" ]; do sleep 0.01; done; echo done`);
      await expect.poll(() => existsSync(join(place, 'runs'))).toBe(true);
      await release();
      expect(helpers()).toHaveLength(2);
      writeFileSync(join(place, 'end'), '');
      expect(await running).toBe('done\n');
      rmSync(place, { recursive: true });
      await useCommandHelpers()();
      expect(helpers()).toEqual([]);
    });

    it('does not wait long for a process that ignores signals', async () => {
      const release = useCommandHelpers();
      await runUntilAllHelp();
      for (const pid of helperIds()) process.kill(pid, 'SIGSTOP');
      await release();
      expect(helpers()).toEqual([]);
    });

    it('ends them after background shells, too', async () => {
      const shells = openBackgroundShells();
      await runUntilAllHelp();
      await shells.start({ shell: 'sh', command: 'sleep 60', cwd: tmpdir(), env: { PATH } });
      await shells.close();
      expect(helpers()).toEqual([]);
    });
  },
);
