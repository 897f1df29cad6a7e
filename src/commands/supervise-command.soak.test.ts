import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProgram } from '../platform/process/find-program.js';
import { findShell } from '../platform/process/find-shell.js';
import { readProcess } from '../platform/process/proc-table.js';
import { SharedList } from '../platform/process/shared-list.js';
import { killAndWait, leftOf, useKilledHosts } from './fixtures/killed-hosts.js';
import { BREED, living, sleepToken, TREES } from './fixtures/nasty-trees.js';
import { SUPERVISOR_PROGRAM } from './supervise-command.js';

const hosts = useKilledHosts();

describe('when the program that runs them is killed with SIGKILL', () => {
  it.each(Object.entries(TREES))('its commands end: %s', (_what, tree) => hosts.killWithTree(tree));
});

describe('the supervisor', () => {
  const shells = [findShell('sh'), findShell('bash')].filter((file) => file !== undefined);

  // Only `sleep`: other programs would take long to find, or would not be found at all.
  it.each(shells)('ends programs that fork all the time, without listing processes: %s', async (shell) => {
    const token = sleepToken();
    const path = mkdtempSync(join(hosts.cwd, 'path-'));
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
  it('its commands end: SIGINT', async () => {
    const token = sleepToken();
    const host = await hosts.start([{ background: true, command: `sleep ${token} & echo ready; wait` }]);
    await killAndWait(host, 'SIGINT');
    expect(await leftOf(token)).toEqual([]);
  });

  it('leaves no shell behind, whether waiting or running a command', async () => {
    const token = sleepToken();
    const foreground = { background: false, command: `setsid sleep ${token} & echo ready; sleep ${token}` };
    const host = await hosts.start([foreground, { ...foreground, background: true }], 20);
    expect(living(token).length).toBeGreaterThan(0);
    await expect.poll(() => hosts.shells().length).toBeGreaterThan(2);
    await killAndWait(host, 'SIGKILL');
    expect(await leftOf(token)).toEqual([]);
    await expect.poll(() => hosts.shells()).toEqual([]);
  });
});
