import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { findProgram } from '../platform/process/find-program.js';
import { findShell } from '../platform/process/find-shell.js';
import { findOrphanHolder } from '../platform/process/hold-orphans.js';
import { readProcess } from '../platform/process/proc-table.js';
import { SharedList } from '../platform/process/shared-list.js';
import { bundleProgram } from '../testing/fixtures/bundle-program.js';
import { BREED, FLEES_WITHOUT_A_TRACE, living, sleepToken, TREES } from './fixtures/nasty-trees.js';
import { SUPERVISOR_PROGRAM } from './supervise-command.js';

const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'supervise-')));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const HOST = bundleProgram(fileURLToPath(new URL('./fixtures/host.mjs', import.meta.url)));

interface HostedCommand {
  readonly background: boolean;
  readonly command: string;
}

/** A program that runs these commands, once all of them are ready. */
async function startHost(
  commands: readonly HostedCommand[],
  env: NodeJS.ProcessEnv = {},
  before = 0,
): Promise<ChildProcess> {
  const args = [HOST, JSON.stringify(commands), String(before)];
  const host = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(host.stdout, 'data');
  expect(String(said)).toBe('ready\n');
  return host;
}

async function killAndWait(host: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const gone = once(host, 'exit');
  host.kill(signal);
  await gone;
}

/** Who is left when no more have died for a while; a busy machine takes its time. */
async function leftOf(token: string): Promise<number[]> {
  let left = living(token);
  for (let round = 0; round < 200 && left.length > 0; round++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    left = living(token);
  }
  return left;
}

function supervisorsOf(pid: number | undefined): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((id) => id > 0 && readOrEmpty(`/proc/${id}/cmdline`).includes('toolexec-supervisor'))
    .filter((id) => Number(/\) . (\d+)/.exec(readOrEmpty(`/proc/${id}/stat`))?.[1]) === pid);
}

/** Shells and what they have become, by their working directory. */
function startedIn(directory: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && linkOrEmpty(`/proc/${pid}/cwd`) === directory)
    .map((pid) => readOrEmpty(`/proc/${pid}/cmdline`))
    .filter((command) => /^(?:\S*\/)?(?:sh|bash|sleep|setsid)\0/.test(command));
}

function linkOrEmpty(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

describe('when the program that runs them is killed with SIGKILL', () => {
  const trees = Object.entries(TREES);
  if (findOrphanHolder() !== undefined) trees.push(['without a track', FLEES_WITHOUT_A_TRACE]);

  it.each(trees)('its commands end: %s', async (_what, tree) => {
    const token = sleepToken();
    const command = `${tree.replaceAll('TOKEN', token)}; echo ready; sleep ${token}`;
    const host = await startHost([
      { background: true, command },
      { background: false, command },
    ]);
    expect(living(token).length).toBeGreaterThan(1);
    await killAndWait(host, 'SIGKILL');
    expect(await leftOf(token)).toEqual([]);
  });

  it('commands may tidy up first', async () => {
    const token = sleepToken();
    const command = `trap 'echo tidied > ${token}; exit' TERM; echo ready; while :; do sleep 0.02; done`;
    const host = await startHost([{ background: true, command }]);
    await killAndWait(host, 'SIGKILL');
    await expect.poll(() => readOrEmpty(join(cwd, token)), { timeout: 15_000 }).toBe('tidied\n');
  });

  it('no other process ends', async () => {
    const other = sleepToken();
    const bystander = spawn('sleep', [other], { detached: true, stdio: 'ignore' });
    const token = sleepToken();
    const host = await startHost([{ background: true, command: `sleep ${token} & echo ready; wait` }]);
    await killAndWait(host, 'SIGKILL');
    expect(await leftOf(token)).toEqual([]);
    expect(living(other)).toEqual([bystander.pid]);
    bystander.kill();
  });

  it('a supervisor that was killed has been replaced', async () => {
    const token = sleepToken();
    const host = await startHost([{ background: true, command: `sleep ${token} & echo ready; wait` }]);
    const [first = 0] = supervisorsOf(host.pid);
    process.kill(first, 'SIGKILL');
    await expect
      .poll(() => supervisorsOf(host.pid).filter((pid) => pid !== first), { timeout: 15_000 })
      .toHaveLength(1);
    await killAndWait(host, 'SIGKILL');
    expect(await leftOf(token)).toEqual([]);
  });
});

describe('the supervisor', () => {
  const shells = [findShell('sh'), findShell('bash')].filter((file) => file !== undefined);

  // Nothing but `sleep`: what must be looked for takes long to be found, or is not found at all.
  it.each(shells)('ends those that fork all the time without a look: %s', async (shell) => {
    const token = sleepToken();
    const path = mkdtempSync(join(cwd, 'path-'));
    symlinkSync(findProgram('sleep')[0] ?? '', join(path, 'sleep'));
    const breeder = spawn(shell, ['-c', `trap '' TERM; ${BREED.replaceAll('TOKEN', token)}`], {
      detached: true,
      stdio: 'ignore',
    });
    await expect.poll(() => living(token).length).toBeGreaterThan(3);
    const start = readProcess(breeder.pid ?? 0)?.startTicks ?? 0;
    const list = new SharedList();
    list.add('0:0:no-process-has-this:');
    list.add(`${breeder.pid}:${start}:no-such-mark:`);
    const supervisor = spawn(shell, ['-c', SUPERVISOR_PROGRAM, 'toolexec-supervisor'], {
      argv0: 'sh',
      env: { PATH: path },
      stdio: ['pipe', 'ignore', 'pipe', list.fd],
    });
    let complaints = '';
    supervisor.stderr?.on('data', (chunk) => {
      complaints += String(chunk);
    });
    supervisor.stdin?.end();
    await once(supervisor, 'close');
    list.close();
    expect(await leftOf(token)).toEqual([]);
    expect(complaints).toBe('');
  });
});

describe('when the program ends in another way', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('its commands end: %s', async (signal) => {
    const token = sleepToken();
    const host = await startHost([{ background: true, command: `sleep ${token} & echo ready; wait` }]);
    await killAndWait(host, signal);
    expect(await leftOf(token)).toEqual([]);
  });

  it('leaves no shell that waits for a command, and none that was told one', async () => {
    const token = sleepToken();
    const foreground = { background: false, command: `setsid sleep ${token} & echo ready; sleep ${token}` };
    const host = await startHost([foreground, { ...foreground, background: true }], {}, 20);
    expect(living(token).length).toBeGreaterThan(0);
    await expect.poll(() => startedIn(cwd).length, { timeout: 15_000 }).toBeGreaterThan(2);
    await killAndWait(host, 'SIGKILL');
    expect(await leftOf(token)).toEqual([]);
    await expect.poll(() => startedIn(cwd), { timeout: 15_000 }).toEqual([]);
  }, 60_000);

  it('leaves no supervisor behind', async () => {
    const host = await startHost([{ background: true, command: 'echo ready; sleep 60' }]);
    const [supervisor = 0] = supervisorsOf(host.pid);
    expect(supervisor).toBeGreaterThan(0);
    await killAndWait(host, 'SIGKILL');
    await expect
      .poll(() => readOrEmpty(`/proc/${supervisor}/cmdline`), { timeout: 15_000 })
      .not.toContain('toolexec-supervisor');
  });
});
