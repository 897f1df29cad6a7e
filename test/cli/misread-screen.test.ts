import { describe, expect, it } from 'vitest';
import { builtCommand } from './built-command.js';
import { misread } from './misread-screen.js';
import { hasTerminal } from './terminal.js';

const TOGETHER = 4;

/** @returns how many calls have run, all of them chosen */
async function neverRunsWhatWasNotChosen(from: number, count: number): Promise<number> {
  let runs = 0;
  const seeds = Array.from({ length: count }, (_, index) => from + index);
  const one = async (): Promise<void> => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const { typed, ran, chosen, shown } = await misread(seed);
      const unasked = ran.filter((number) => !chosen.includes(number));
      if (unasked.length > 0)
        expect.fail(`seed ${seed}: ${JSON.stringify(typed)} ran ${unasked.join(', ')}:\n${shown}`);
      runs += ran.length;
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, one));
  return runs;
}

describe.skipIf(!hasTerminal)('a person who misreads the screen (skipped where python3 has no pty)', () => {
  it('runs nothing that was not chosen, in a few sequences of keys', { timeout: 120_000 }, async () => {
    builtCommand();
    expect(await neverRunsWhatWasNotChosen(6, 6)).toBeGreaterThan(0);
  });

  it('runs nothing that was not chosen, in 500', { tags: ['soak'], timeout: 3_600_000 }, async () => {
    builtCommand();
    const trials = Number(process.env.TRIALS ?? 100);
    // A short soak tries as many as others do: each takes seconds.
    const count = trials < 100 ? trials : 5 * trials;
    expect(await neverRunsWhatWasNotChosen(100, count)).toBeGreaterThanOrEqual(Math.floor(count / 20));
  });
});
