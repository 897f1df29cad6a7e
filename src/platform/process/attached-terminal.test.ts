import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { hasPipeNeighbour } from './attached-terminal.js';
import { listChildren, readProcess } from './proc-table.js';

it('hasPipeNeighbour() is true while the other end of a pipe lives, whatever else the program and its shell run', async () => {
  // Two programs of one shell; the first one has a child.
  const line = "sh -c 'sleep 60 & echo $$; wait' & sleep 60 & echo $!; wait";
  const shell = spawn('sh', ['-c', line], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => {
    process.kill(-(shell.pid ?? 0), 'SIGKILL');
  });
  let told = '';
  while (told.split('\n').length < 3) told += String((await once(shell.stdout, 'data'))[0]);
  const pids = told.trim().split('\n').map(Number);
  const isParent = (pid: number) => listChildren(pid).length > 0;
  const program = pids.find(isParent) ?? 0;
  const reader = pids.find((pid) => !isParent(pid)) ?? 0;
  expect(hasPipeNeighbour(program)).toBe(true);
  expect(hasPipeNeighbour(shell.pid)).toBe(false);
  process.kill(reader, 'SIGKILL');
  await expect.poll(() => hasPipeNeighbour(program)).toBe(false);
  expect(readProcess(program)?.alive).toBe(true);
});
