import { expect, it } from 'vitest';
import { pause } from '../platform/clock/clock.js';
import { Rounds } from './rounds.js';

const logger = { debug() {}, info() {}, warn() {}, error() {} };

it('begins the next round at once if woken during a round', async () => {
  const rounds = new Rounds(logger);
  let begun = 0;
  let third = (): void => {};
  const thirdBegins = new Promise<void>((resolve) => {
    third = resolve;
  });
  rounds.repeat(
    async () => {
      begun++;
      if (begun === 3) third();
      if (begun < 3) rounds.wakeUp();
      await pause(1);
    },
    3_600_000,
    'early',
  );
  await thirdBegins;
  await pause(20);
  expect(begun).toBe(3);
  await rounds.end();
});

it('begins a round within a given time, unless woken earlier', async () => {
  const rounds = new Rounds(logger);
  const begun: number[] = [];
  rounds.repeat(async () => void begun.push(performance.now()), 3_600_000, 'early');
  await pause(1);
  const asked = performance.now();
  rounds.wakeUpWithin(40);
  rounds.wakeUpWithin(1);
  await pause(20);
  expect(begun).toHaveLength(1);
  await pause(60);
  expect(begun).toHaveLength(2);
  expect((begun[1] ?? 0) - asked).toBeGreaterThan(30);
  rounds.wakeUpWithin(40);
  rounds.wakeUp();
  await pause(80);
  expect(begun).toHaveLength(3);
  await rounds.end();
});
