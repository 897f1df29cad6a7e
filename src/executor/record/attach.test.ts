import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Acceptance, Journal } from '../../contract/journal.js';
import { openJournal } from '../../journal/open-journal.js';
import { systemClock } from '../../platform/clock/clock.js';
import { batchEntry, callEntry, successOf, WORKER } from '../../testing/journal-entries.js';
import { awaitDeliveries } from './attach.js';

const NEVER_STOPPED = { stopped: new Promise<void>(() => {}) };

let journal: Journal;
let second: readonly Acceptance[];

beforeEach(async () => {
  journal = openJournal(':memory:');
  const calls = [callEntry('x')];
  await journal.accept(batchEntry('first', calls, { attach: true, worker: WORKER }));
  await journal.claim('first/0', WORKER, 1);
  second = await journal.accept(batchEntry('second', calls, { attach: true }));
});

afterEach(() => journal.close());

describe('awaitDeliveries()', () => {
  it.each([0, 1, 2])(
    'finds the answer of a process that was seen %i times, records it and ends',
    async (times) => {
      let seen = 0;
      const isWorkerAlive = (): boolean => {
        if (seen++ < times) return true;
        void journal.finish('first/0', successOf('x', 'the last word'), 2);
        return false;
      };
      const [answer] = (await awaitDeliveries(
        second,
        { isWorkerAlive, clock: systemClock, journal },
        NEVER_STOPPED,
        10_000,
      )) ?? [undefined];
      expect(answer).toMatchObject({ kind: 'known', record: { result: { output: 'the last word' } } });
    },
  );

  it('leaves a call without an answer whose process has died', async () => {
    const world = { isWorkerAlive: () => false, clock: systemClock, journal };
    const [answer] = (await awaitDeliveries(second, world, NEVER_STOPPED, 10_000)) ?? [undefined];
    expect(answer).toMatchObject({ kind: 'known', record: { state: 'running' } });
  });
});
