import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundleProgram } from '../../testing/fixtures/bundle-program.js';
import { workerOfThisProcess } from './worker-of-this-process.js';

describe('workerOfThisProcess()', () => {
  it('names the process by its id and its start, the same every time', () => {
    const worker = workerOfThisProcess();
    expect(worker).toMatchObject({ pid: process.pid });
    expect(Math.abs(Date.now() - process.uptime() * 1000 - worker.startedAt)).toBeLessThan(10_000);
    expect(workerOfThisProcess()).toBe(worker);
  });

  it('is another one in another process', () => {
    const file = JSON.stringify(bundleProgram(join(import.meta.dirname, 'worker-of-this-process.ts')));
    const program = `const module = await import(${file});
      process.stdout.write(JSON.stringify({ ...module.workerOfThisProcess(), itsPid: process.pid }));`;
    const args = ['--input-type=module', '-e', program];
    const other = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
    expect(other.pid).toBe(other.itsPid);
    expect(other.id).not.toBe(workerOfThisProcess().id);
    expect(other.startedAt).toBeGreaterThanOrEqual(workerOfThisProcess().startedAt);
  });
});
