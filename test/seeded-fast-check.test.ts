import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

it('properties draw the same values in every run', () => {
  const wanted = process.env.TOOLEXEC_SEED;
  const drawn = [0, 1].map(() => fc.sample(fc.integer(), 20));
  if (wanted === 'random') expect(drawn[0]).not.toEqual(drawn[1]);
  else expect(drawn[0]).toEqual(drawn[1]);
  expect(fc.readConfigureGlobal().seed).toBe(wanted === 'random' ? undefined : Number(wanted ?? 20261101));
});

it.each([
  { asked: 1000, share: 0.1, drawn: 100 },
  { asked: 100, share: 0.1, drawn: 20 },
  { asked: 15, share: 0.1, drawn: 15 },
  { asked: 1000, share: 1, drawn: 1000 },
])('of $asked values a property draws $drawn at a share of $share', async ({ asked, share, drawn }) => {
  vi.stubEnv('TOOLEXEC_RUNS', String(share));
  vi.resetModules();
  const { default: scaled } = await import('fast-check');
  let count = 0;
  scaled.assert(
    scaled.property(scaled.nat(), () => {
      count++;
    }),
    { numRuns: asked },
  );
  expect(count).toBe(drawn);
});

it('still fails where a property does', () => {
  expect(() =>
    fc.assert(
      fc.property(fc.nat(), (n) => n < 5),
      { numRuns: 1000 },
    ),
  ).toThrow(/Property failed/);
});
