import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { ended, type Toolexec } from '../cli/toolexec.js';

/** Lehmer's generator: the same instants each time, if the machine allows. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** A random instant within a program's maximum run time, at which the program is killed. */
export interface KillTime {
  readonly random: () => number;
  readonly wholeMs: number;
}

/** Runs toolexec, and kills it at a random instant. @returns its exit code; null: it was killed */
export async function killed(
  toolexec: Toolexec,
  args: readonly string[],
  stdin: string,
  { random, wholeMs }: KillTime,
): Promise<number | null> {
  const child = toolexec.start(args);
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const timer = setTimeout(() => child.kill('SIGKILL'), random() * wholeMs * 1.2);
  const { code } = await ended(child);
  clearTimeout(timer);
  return code;
}

export async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** Waits until no process names the root in its command line. */
export async function expectNoOrphan({ root }: Toolexec): Promise<void> {
  for (let tries = 0; tries < 100 && processesOf(root) !== ''; tries++) await pause(100);
  expect(processesOf(root)).toBe('');
}

function processesOf(root: string): string {
  return execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(root) && !line.includes('ps -eo'))
    .join('\n');
}
