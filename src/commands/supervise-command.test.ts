import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProgram } from '../platform/process/find-program.js';
import { findOrphanHolder } from '../platform/process/hold-orphans.js';
import { readProcess } from '../platform/process/proc-table.js';
import { SharedList } from '../platform/process/shared-list.js';
import { eachOf } from '../testing/fixtures/each-of.js';
import { killAndWait, leftOf, supervisorsOf, textOrEmpty, useKilledHosts } from './fixtures/killed-hosts.js';
import { FLEES_WITHOUT_A_TRACE, living, sleepToken, TREES } from './fixtures/nasty-trees.js';
import { SUPERVISOR_PROGRAM } from './supervise-command.js';

const hosts = useKilledHosts();

describe('when the program that runs them is killed with SIGKILL', () => {
  // All of them are in `supervise-command.soak.test.ts`.
  const names = ['a double fork, without the pipes', 'deaf to TERM in a session of its own'];
  const trees = names.map((name) => [name, TREES[name] ?? '']);
  if (findOrphanHolder() !== undefined) trees.push(['without a track', FLEES_WITHOUT_A_TRACE]);

  it.each(trees)('its commands end: %s', (_what, tree = '') => hosts.killWithTree(tree));

  it('no other process ends', async () => {
    const other = sleepToken();
    const bystander = spawn('sleep', [other], { detached: true, stdio: 'ignore' });
    const token = sleepToken();
    const host = await hosts.start([{ background: true, command: `sleep ${token} & echo ready; wait` }]);
    await killAndWait(host, 'SIGKILL');
    expect(await leftOf(token)).toEqual([]);
    expect(living(other)).toEqual([bystander.pid]);
    bystander.kill();
  });

  it('a supervisor that was killed has been replaced', async () => {
    const token = sleepToken();
    const host = await hosts.start([{ background: true, command: `sleep ${token} & echo ready; wait` }]);
    const [first = 0] = supervisorsOf(host.pid);
    process.kill(first, 'SIGKILL');
    await expect.poll(() => supervisorsOf(host.pid).filter((pid) => pid !== first)).toHaveLength(1);
    await killAndWait(host, 'SIGKILL');
    expect(await leftOf(token)).toEqual([]);
  });
});

describe('the supervisor', () => {
  // The programs that it calls wait for the command, so the speed of the machine does not matter.
  eachOf<[string, string]>(
    [
      ['a quick look', ''],
      ['a look that takes longer than it waits', 'grep'],
    ],
    1,
  )('lets a command clean up before it is killed, with %s', async (_what, slow) => {
    const place = mkdtempSync(join(hosts.cwd, 'tidies-'));
    const [path, tidied] = [join(place, 'path'), join(place, 'tidied')];
    const sleep = findProgram('sleep')[0] ?? '';
    mkdirSync(path);
    const waits = `i=0; until [ -s "${tidied}" ] || [ $i -gt 1000 ]; do i=$((i + 1)); ${sleep} 0.02; done`;
    const programs = { sleep: `[ "$1" != 0.3 ] || { ${waits}; }; exec ${sleep} "$1"`, [slow]: waits };
    for (const [name, program] of Object.entries(programs).filter(([name]) => name !== '')) {
      writeFileSync(join(path, name), `#!/bin/sh\n${program}\n`);
      chmodSync(join(path, name), 0o755);
    }
    if (slow === '') symlinkSync(findProgram('grep')[0] ?? '', join(path, 'grep'));
    const program = `trap 'echo tidied > "${tidied}"; exit' TERM; echo ready; while :; do ${sleep} 0.02; done`;
    const command = spawn('/bin/sh', ['-c', program], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(command.stdout, 'data');
    const list = new SharedList();
    list.add(`${command.pid}:${readProcess(command.pid ?? 0)?.startTicks}:no-such-mark:`);
    const supervisor = spawn('/bin/sh', ['-c', SUPERVISOR_PROGRAM, 'toolexec-supervisor'], {
      env: { PATH: path },
      stdio: ['pipe', 'ignore', 'inherit', list.fd],
    });
    const gone = once(command, 'exit');
    supervisor.stdin?.end();
    await gone;
    expect(textOrEmpty(tidied)).toBe('tidied\n');
    if (supervisor.exitCode === null) await once(supervisor, 'exit');
    list.close();
  });
});

describe('when the program ends in another way', () => {
  it('its commands end: SIGTERM', async () => {
    const token = sleepToken();
    const host = await hosts.start([{ background: true, command: `sleep ${token} & echo ready; wait` }]);
    await killAndWait(host, 'SIGTERM');
    expect(await leftOf(token)).toEqual([]);
  });

  it('leaves no supervisor behind', async () => {
    const host = await hosts.start([{ background: true, command: 'echo ready; sleep 60' }]);
    const [supervisor = 0] = supervisorsOf(host.pid);
    expect(supervisor).toBeGreaterThan(0);
    await killAndWait(host, 'SIGKILL');
    await expect.poll(() => textOrEmpty(`/proc/${supervisor}/cmdline`)).not.toContain('toolexec-supervisor');
  });
});
