import { describe, expect, it } from 'vitest';
import { soakSize } from '../../src/testing/fixtures/soak-size.js';
import { buildFirst } from '../cli/built-command.js';
import { killCommits } from './commit-kills.js';
import { crashCampaign } from './crash-campaign.js';
import { whyNoTransactions } from './kept-apart.js';
import { placesHere } from './plan-maker.js';

const WHY_NOT = await whyNoTransactions();
const TRIALS = soakSize('TRIALS', { short: 3, whole: 100 });
/** For one file system, and for two. */
const KILLS = soakSize('KILLS', { short: 2, whole: 150 });

buildFirst();

/** Lehmer's generator: the same instants each time, if the machine allows. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

describe.skipIf(WHY_NOT !== '')(`commands whose processes are killed at random instants${WHY_NOT}`, () => {
  it.each(['command', 'external tool'] as const)(
    `take effect completely or not at all, ${TRIALS} times: %s`,
    async (runner) => {
      const random = numbers(Number(process.env.SEED ?? 20_261_123));
      const tally = await crashCampaign(TRIALS, random, runner);
      console.log(JSON.stringify({ ...tally, wrong: tally.wrong.length }));
      expect(tally.wrong).toEqual([]);
      expect(tally.nothing).toBeGreaterThan(0);
    },
    60_000 + TRIALS * 20_000,
  );

  it.each(placesHere())(
    `have all 2,000 changes committed or none, and the result says which, in ${KILLS} kills: %s`,
    async (places) => {
      const tally = await killCommits(KILLS, numbers(Number(process.env.SEED ?? 20_261_124)), places);
      console.log(places, JSON.stringify({ ...tally, wrong: tally.wrong.length }));
      expect(tally.wrong).toEqual([]);
      expect(tally.completed).toBeGreaterThan(0);
    },
    60_000 + KILLS * 60_000,
  );
});
