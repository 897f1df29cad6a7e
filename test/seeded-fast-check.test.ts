import fc from 'fast-check';
import { expect, it } from 'vitest';

it('properties draw the same values in every run', () => {
  const wanted = process.env.TOOLEXEC_SEED;
  const drawn = [0, 1].map(() => fc.sample(fc.integer(), 20));
  if (wanted === 'random') expect(drawn[0]).not.toEqual(drawn[1]);
  else expect(drawn[0]).toEqual(drawn[1]);
  expect(fc.readConfigureGlobal().seed).toBe(wanted === 'random' ? undefined : Number(wanted ?? 20261101));
});
