import { describe, expect, it } from 'vitest';
import { createMemoryJournal } from '../journal/memory/memory-journal.js';
import { systemClock } from '../platform/clock/clock.js';
import { batchEntry, callEntry } from '../testing/journal-entries.js';
import { Candidates } from './candidates.js';
import { findTakable } from './find-takable.js';

const CALL = { ...callEntry('x'), disposition: 'execute_now' } as const;

/** Looks once for at most `most` of the queued calls of one conversation. */
async function look(most: number, ids: readonly string[], doConflict: boolean) {
  const journal = createMemoryJournal();
  for (const id of ids) await journal.accept(batchEntry(id, [CALL], { placement: {} }));
  const refused = (): Promise<never> => Promise.reject(new Error('no call is late or refused here'));
  const { takable, leftBehind } = await findTakable(most, {
    ...{ journal, clock: systemClock, offer: { labels: [], roots: [] }, candidates: new Candidates() },
    ...{ late: refused, denied: refused, unasked: refused, unanswered: refused, recoverLost: async () => {} },
    conflicts: () => doConflict,
    isWanted: () => true,
  });
  return { found: takable.map(({ record }) => record.batchId), leftBehind };
}

describe('findTakable', () => {
  it('leaves nothing behind if it found all queued calls and there was room for more', async () => {
    expect(await look(4, [], false)).toEqual({ found: [], leftBehind: false });
    expect(await look(4, ['a', 'b'], false)).toEqual({ found: ['a', 'b'], leftBehind: false });
  });

  it('leaves behind the calls that do not fit', async () => {
    expect(await look(1, ['a', 'b'], false)).toEqual({ found: ['a'], leftBehind: true });
  });

  it('leaves behind the calls that conflict with an earlier call', async () => {
    expect(await look(4, ['a', 'b'], true)).toEqual({ found: ['a'], leftBehind: true });
  });
});
