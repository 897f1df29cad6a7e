import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ProgramRequest } from '../contract/programs.js';
import { runProgram } from './run-program.js';

const IDLE = new AbortController().signal;

function run(script: string, given: Partial<ProgramRequest> = {}, args: readonly string[] = []) {
  return runProgram({
    file: '/bin/sh',
    args: ['-c', script, 'sh', ...args],
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
    input: '',
    signal: IDLE,
    maxOutputBytes: 1_000,
    keepErrorBytes: 1_000,
    ...given,
  });
}

describe('runProgram()', () => {
  it('passes its input on whole, and returns the output', async () => {
    const input = 'x'.repeat(900_000);
    const { exitCode, stdout, stderr } = await run('wc -c; echo warn >&2; exit 3', { input });
    expect(stdout.toString().trim()).toBe('900000');
    expect([exitCode, stderr.head]).toEqual([3, 'warn\n']);
  });

  it('lets a program that does not read its long input end normally', async () => {
    expect((await run('echo done', { input: 'x'.repeat(900_000) })).stdout.toString()).toBe('done\n');
  });

  it('ends a program that writes more than its limit, and keeps the beginning', async () => {
    const { overflow, stdout, exitCode } = await run('yes');
    expect([overflow, stdout.length, exitCode]).toEqual([true, 1_000, null]);
  });

  it('accepts output of exactly the limit', async () => {
    expect(await run('head -c 1000 /dev/zero')).toMatchObject({ overflow: false, exitCode: 0 });
  });

  it('ends the program and its child processes when its signal aborts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolexec-program-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const place = join(folder, 'pid');
    const stop = new AbortController();
    const running = run(`(trap '' TERM; echo $$ > ${place}.tmp; mv ${place}.tmp ${place}; sleep 60) & wait`, {
      signal: stop.signal,
    });
    await expect.poll(() => existsSync(place)).toBe(true);
    stop.abort();
    const { aborted, survivors } = await running;
    expect([aborted, survivors]).toEqual([true, []]);
    const pid = Number(readFileSync(place, 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('does not wait for child processes that keep its output open', async () => {
    const { stdout, durationMs } = await run('echo now; sleep 30 &');
    expect(stdout.toString()).toBe('now\n');
    expect(durationMs).toBeLessThan(10_000);
  });

  it.each([
    ['/nonexistent/program', 'ENOENT'],
    ['/etc', 'EACCES'],
  ])('says why %s cannot be started, each time', async (file, errno) => {
    for (let time = 0; time < 3; time++) {
      await expect(run('', { file })).rejects.toMatchObject({
        code: 'spawn_failed',
        details: { path: file, errno, executed: 'no' },
      });
    }
  });
});
