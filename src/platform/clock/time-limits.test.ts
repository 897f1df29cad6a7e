import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bundleProgram } from '../../testing/fixtures/bundle-program.js';
import { type Limited, TimeLimits } from './time-limits.js';

let limits: TimeLimits<Limited>;
let over: string[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  limits = new TimeLimits();
  over = [];
});

afterEach(() => vi.useRealTimers());

function start(name: string, limitMs: number): Limited {
  const limited = { dueAt: 0, over: () => over.push(`${name} at ${performance.now()}`) };
  limits.start(limited, limitMs);
  return limited;
}

describe('TimeLimits', () => {
  it('end each in its time, whichever started first', () => {
    const begun = performance.now();
    start('slow', 500);
    start('quick', 100);
    start('middle', 300);
    vi.advanceTimersByTime(1000);
    expect(over).toEqual([`quick at ${begun + 100}`, `middle at ${begun + 300}`, `slow at ${begun + 500}`]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('set one timer for what follows each other, and yet end what takes too long', () => {
    for (let round = 0; round < 10; round++) {
      const limited = start(`round ${round}`, 100);
      expect(vi.getTimerCount()).toBe(1);
      vi.advanceTimersByTime(5);
      limits.end(limited);
    }
    const begun = performance.now();
    start('hangs', 100);
    vi.advanceTimersByTime(99);
    expect(over).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(over).toEqual([`hangs at ${begun + 100}`]);
  });

  it('end a call sooner that got a shorter limit meanwhile, and a call with a longer one no later', () => {
    const begun = performance.now();
    limits.shorten(start('hurried', 500), 50);
    limits.shorten(start('not hurried', 100), 1000);
    vi.advanceTimersByTime(1000);
    expect(over).toEqual([`hurried at ${begun + 50}`, `not hurried at ${begun + 100}`]);
  });

  it('start again from what is over', () => {
    const begun = performance.now();
    const again: Limited = { dueAt: 0, over: () => start('second', 100) };
    limits.start(again, 100);
    vi.advanceTimersByTime(1000);
    expect(over).toEqual([`second at ${begun + 200}`]);
  });

  it('go by a clock that is not the system’s, and take its timers back when nothing runs', () => {
    const timers = new Map<() => void, number>();
    let now = 1000;
    limits = new TimeLimits({
      now: () => now,
      monotonic: () => now,
      after(delayMs, ring) {
        timers.set(ring, now + delayMs);
        return () => void timers.delete(ring);
      },
    });
    for (let round = 0; round < 2; round++) {
      const limited = start(`round ${round}`, 500);
      expect([...timers.values()]).toEqual([now + 500]);
      limits.end(limited);
      expect(timers.size).toBe(0);
    }
    const overAt: number[] = [];
    limits.start({ dueAt: 0, over: () => overAt.push(now) }, 300);
    limits.start({ dueAt: 0, over: () => overAt.push(now) }, 100);
    for (const at of [1099.4, 1300]) {
      now = at;
      const [ring] = timers.keys();
      timers.delete(ring ?? expect.fail());
      ring?.();
    }
    expect(overAt).toEqual([1099.4, 1300]);
    expect(timers.size).toBe(0);
  });

  it('keep the process alive while something runs, and no longer', () => {
    const program = (after: string) => `
      import { TimeLimits } from ${JSON.stringify(bundleProgram(join(import.meta.dirname, 'time-limits.ts')))};
      const limits = new TimeLimits();
      const limited = { dueAt: 0, over: () => console.log('over') };
      const first = { dueAt: 0, over: () => {} };
      limits.start(first, 60_000);
      limits.end(first);
      ${after}`;
    const outputOf = (after: string): string => {
      const args = ['--input-type=module', '-e', program(after)];
      const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 });
      return stdout + stderr;
    };
    expect(outputOf('limits.start(limited, 200);')).toBe('over\n');
    expect(outputOf('limits.start(limited, 50_000); limits.end(limited);')).toBe('');
  });
});
