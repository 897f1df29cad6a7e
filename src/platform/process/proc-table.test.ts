import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import {
  lastProcessId,
  listChildren,
  listOpenFiles,
  listProcessIds,
  readEnvironmentOf,
  readProcess,
} from './proc-table.js';

it('readProcess() knows us and our child, and is undefined for nobody', async () => {
  const child = spawn('sleep', ['60'], {
    detached: true,
    env: { PATH: process.env.PATH, MARK: 'here-i-am' },
  });
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  const us = readProcess(process.pid);
  const entry = readProcess(pid);
  expect(us).toMatchObject({ pid: process.pid, parent: process.ppid, alive: true });
  expect(entry).toMatchObject({ pid, parent: process.pid, group: pid, session: pid, alive: true });
  expect(entry?.startTicks).toBeGreaterThanOrEqual(us?.startTicks ?? Number.POSITIVE_INFINITY);
  expect(listProcessIds()).toEqual(expect.arrayContaining([1, process.pid, pid]));
  expect(listChildren(process.pid)).toContain(pid);
  expect(readEnvironmentOf(pid).toString()).toContain('here-i-am');
  expect(listOpenFiles(pid, ['0'])[0]).toMatch(/^socket:/);
  expect(lastProcessId()).toBeGreaterThan(0);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(readProcess(pid)).toBeUndefined();
  expect([listChildren(pid), readEnvironmentOf(pid).length, listOpenFiles(pid)]).toEqual([[], 0, []]);
});

it('readProcess() is not fooled by the name of a program', async () => {
  const child = spawn('bash', ['-c', "echo ') Z 1 1 1' > /proc/$$/comm; echo; read x"]);
  await once(child.stdout, 'data');
  expect(readProcess(child.pid ?? 0)).toMatchObject({ parent: process.pid, alive: true });
  child.kill('SIGKILL');
  await once(child, 'close');
});
