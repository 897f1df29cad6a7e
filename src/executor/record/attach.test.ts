import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Acceptance, Journal } from '../../contract/journal.js';
import { openJournal } from '../../journal/open-journal.js';
import { systemClock } from '../../platform/clock/clock.js';
import { batchEntry, callEntry, failureOf, successOf, WORKER } from '../../testing/journal-entries.js';
import { awaitDeliveries } from './attach.js';

const WAITING = {
  clock: systemClock,
  stopped: new Promise<void>(() => {}),
  patienceMs: 10_000,
  recovery: { recoverLeft: () => Promise.resolve(), recoverLost: () => Promise.resolve() },
};

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
        void journal.finish('first/0', successOf('x', 'the last word'), 2, WORKER);
        return false;
      };
      const world = { ...WAITING, isWorkerAlive, journal };
      const [answer] = (await awaitDeliveries(second, world)) ?? [undefined];
      expect(answer).toMatchObject({ kind: 'known', record: { result: { output: 'the last word' } } });
    },
  );

  it('leaves a call without an answer whose process has died', async () => {
    const world = { ...WAITING, isWorkerAlive: () => false, journal };
    const [answer] = (await awaitDeliveries(second, world)) ?? [undefined];
    expect(answer).toMatchObject({ kind: 'known', record: { state: 'running' } });
  });

  it('gives the answer that recovery finds for a call whose process has died', async () => {
    const recovery = {
      ...WAITING.recovery,
      async recoverLeft() {
        await journal.finish('first/0', failureOf('x', 'outcome_unknown'), 3, WORKER);
      },
    };
    const world = { ...WAITING, isWorkerAlive: () => false, journal, recovery };
    const [answer] = (await awaitDeliveries(second, world)) ?? [undefined];
    expect(answer).toMatchObject({ record: { result: { error: { code: 'outcome_unknown' } } } });
  });

  it('outlives a journal that fails for a while, and gives up after its patience', async () => {
    let failures = 3;
    const failing = new Proxy(journal, {
      get(target, name) {
        if (name === 'call' && failures-- > 0) return () => Promise.reject(new Error('restarting'));
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await journal.finish('first/0', successOf('x', 'the last word'), 2, WORKER);
    const world = { ...WAITING, isWorkerAlive: () => true, journal: failing };
    const [answer] = (await awaitDeliveries(second, world)) ?? [undefined];
    expect(answer).toMatchObject({ record: { result: { output: 'the last word' } } });
    failures = Number.POSITIVE_INFINITY;
    await expect(awaitDeliveries(second, { ...world, patienceMs: 20 })).rejects.toThrow('restarting');
  });
});
