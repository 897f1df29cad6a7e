import { expect, it } from 'vitest';
import { createClock } from './clock.js';

it('createClock() tells the time, and measures it', async () => {
  const clock = createClock();
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000);
  const start = clock.monotonic();
  await new Promise<void>((resolve) => clock.after(20, resolve));
  expect(clock.monotonic() - start).toBeGreaterThanOrEqual(18);
});

it('createClock().after() can be taken back', async () => {
  const clock = createClock();
  let rang = 0;
  const takeBack = clock.after(5, () => rang++);
  takeBack();
  takeBack();
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(rang).toBe(0);
});

it('createClock().after() waits for as long as a timer can, where it is asked for more', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', note);
  let rang = 0;
  const takeBack = createClock().after(2 ** 40, () => rang++);
  await new Promise((resolve) => setTimeout(resolve, 10));
  takeBack();
  process.off('warning', note);
  expect([rang, warnings]).toEqual([0, []]);
});
