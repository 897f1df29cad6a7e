import { expect, it } from 'vitest';
import { pause } from '../platform/clock/clock.js';
import { Rounds } from './rounds.js';

const logger = { debug() {}, info() {}, warn() {}, error() {} };

it('begins the next round at once if it was woken during a round', async () => {
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
