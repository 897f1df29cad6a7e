import { describe, expect, it } from 'vitest';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { soakSize } from '../../src/testing/fixtures/soak-size.js';
import { builtCommand } from './built-command.js';
import { type Misreading, misread, misreadHere } from './misread-screen.js';
import { hasTerminal } from './terminal.js';

const TOGETHER = 4;

/** @returns how many calls have run, all of them chosen */
async function neverRunsWhatWasNotChosen(
  seeds: readonly number[],
  attempt: (seed: number) => Promise<Misreading>,
): Promise<number> {
  let runs = 0;
  const left = [...seeds];
  const one = async (): Promise<void> => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      const { typed, ran, chosen, shown } = await attempt(seed);
      const unasked = ran.filter((number) => !chosen.includes(number));
      if (unasked.length > 0)
        expect.fail(`seed ${seed}: ${JSON.stringify(typed)} ran ${unasked.join(', ')}:\n${shown}`);
      runs += ran.length;
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, one));
  return runs;
}

const seedsFrom = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index);

describe('a person who misreads the screen', () => {
  eachOf<[number]>([[60], [200]], 1)(
    'runs nothing that was not chosen, in %d sequences of keys',
    async (count) => {
      const chosen = await neverRunsWhatWasNotChosen(seedsFrom(100, count), misreadHere);
      expect(chosen).toBeGreaterThan(count / 30);
    },
    120_000,
  );
});

describe.skipIf(!hasTerminal)('the same at a terminal (skipped where python3 has no pty)', () => {
  it('runs the calls that two sequences choose', async () => {
    builtCommand();
    expect(await neverRunsWhatWasNotChosen([274, 364], misread)).toBe(4);
  });

  it('runs nothing that was not chosen, in many', { tags: ['soak'], timeout: 3_600_000 }, async () => {
    builtCommand();
    const count = soakSize('SEQUENCES', { short: 10, whole: 500 });
    expect(await neverRunsWhatWasNotChosen(seedsFrom(100, count), misread)).toBeGreaterThanOrEqual(
      Math.floor(count / 20),
    );
  });
});
