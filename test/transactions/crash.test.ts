import { describe, expect } from 'vitest';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { buildFirst } from '../cli/built-command.js';
import { killCommits } from './commit-kills.js';
import { crashCampaign } from './crash-campaign.js';
import { whyNoTransactions } from './kept-apart.js';
import { placesHere } from './plan-maker.js';

const WHY_NOT = await whyNoTransactions();

buildFirst();

describe.skipIf(WHY_NOT !== '')(`a command whose process is killed${WHY_NOT}`, () => {
  eachOf<['command' | 'external tool']>([['command'], ['external tool']], 1)(
    'takes effect completely or not at all, and its result says which: %s',
    async (runner) => {
      // The first moment is before anything is done.
      const instants = [0, 0.5];
      const tally = await crashCampaign(1 + instants.length, () => instants.shift() ?? 0.5, runner);
      expect(tally.wrong).toEqual([]);
      expect(tally.nothing).toBeGreaterThan(0);
      expect(tally.ended).toBeGreaterThan(0);
    },
  );

  eachOf<[ReturnType<typeof placesHere>[number]]>(
    placesHere().map((places) => [places]),
    0,
  )('while 2,000 changes are committed leaves all or none, and its result says which: %s', async (places) => {
    const instants = [0.2, 0.5, 0.3];
    const { wrong } = await killCommits(3, () => instants.pop() ?? 0.5, places);
    expect(wrong).toEqual([]);
  });
});
