import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../contract/context.js';
import { Deadlines, type Timed } from './deadlines.js';

let now: number;
let timers: { at: number; callback: () => void }[];
let set: number;
let running: Timed[];
let ended: string[];
let deadlines: Deadlines;

const clock: Clock = {
  now: () => now,
  monotonic: () => now,
  after(delayMs, callback) {
    const timer = { at: now + delayMs, callback };
    timers.push(timer);
    set++;
    return () => {
      timers = timers.filter((other) => other !== timer);
    };
  },
};

beforeEach(() => {
  now = 1000;
  timers = [];
  set = 0;
  running = [];
  ended = [];
  deadlines = new Deadlines(clock, () => running);
});

function start(name: string, timeoutMs: number): Timed {
  const run: Timed = {
    timeoutMs,
    dueAt: now + timeoutMs,
    stop(stop) {
      ended.push(`${name} ${JSON.stringify(stop)} at ${now}`);
      running = running.filter((other) => other !== run);
    },
  };
  running.push(run);
  deadlines.watch(run);
  return run;
}

function answer(run: Timed): void {
  running = running.filter((other) => other !== run);
}

function passUntil(end: number): void {
  for (;;) {
    const [next] = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
    if (next === undefined) break;
    timers = timers.filter((other) => other !== next);
    now = next.at;
    next.callback();
  }
  now = end;
}

describe('Deadlines', () => {
  it('end each run in its time, whichever started first', () => {
    start('slow', 500);
    start('quick', 100);
    start('middle', 300);
    passUntil(2000);
    expect(ended).toEqual([
      'quick {"cause":"timeout","timeoutMs":100} at 1100',
      'middle {"cause":"timeout","timeoutMs":300} at 1300',
      'slow {"cause":"timeout","timeoutMs":500} at 1500',
    ]);
    expect(timers).toEqual([]);
  });

  it('set one timer for runs that follow each other, and yet end the one that runs too long', () => {
    for (let call = 0; call < 10; call++) {
      const run = start(`call ${call}`, 100);
      now += 5;
      answer(run);
    }
    start('hangs', 100);
    expect(set).toBe(1);
    passUntil(1149);
    expect(ended).toEqual([]);
    passUntil(1150);
    expect(ended).toEqual(['hangs {"cause":"timeout","timeoutMs":100} at 1150']);
  });

  it('end what the timer was set for also where the clock says it is early', () => {
    start('call', 100);
    now = 1099.4;
    timers.shift()?.callback();
    expect(ended).toHaveLength(1);
  });

  it('leave no timer behind when all is answered', () => {
    answer(start('call', 100));
    deadlines.end();
    expect(timers).toEqual([]);
  });
});
