import { describe, expect, it } from 'vitest';
import type { Journal } from '../contract/journal.js';
import { createMemoryJournal } from '../journal/memory/memory-journal.js';
import { pause } from '../platform/clock/clock.js';
import { batchEntry, callEntry, WORKER } from '../testing/journal-entries.js';
import { Candidates } from './candidates.js';

const OFFER = { labels: [], roots: [] };

/** A journal with queued calls in different conversations, and the number of pages read from it. */
async function queueOf(size: number) {
  const journal: Journal = createMemoryJournal();
  for (let number = 0; number < size; number++) {
    const id = String(number).padStart(3, '0');
    await journal.accept(batchEntry(id, [callEntry('x')], { conversation: id, placement: {} }));
  }
  let pages = 0;
  const queued: Journal['queued'] = async (page) => {
    pages++;
    return (await journal.queued?.(page)) ?? [];
  };
  const watched: Journal = Object.assign(Object.create(journal), { queued });
  const candidates = new Candidates();
  /** Claims calls as a worker does, and returns their batches. */
  const take = async (count: number): Promise<string[]> => {
    const taken: string[] = [];
    const records = candidates.read(watched, OFFER);
    while (taken.length < count) {
      const { value: record } = await records.next();
      if (record === undefined) break;
      taken.push(record.batchId);
    }
    for (const id of taken) await journal.claim(`${id}/0`, WORKER, 1);
    return taken;
  };
  return { candidates, take, pages: () => pages };
}

describe('Candidates', () => {
  it('gives each queued call once and in order, and reads them by pages', async () => {
    const { take, pages } = await queueOf(150);
    const taken: string[] = [];
    for (let looks = 0; looks < 15; looks++) taken.push(...(await take(10)));
    expect(taken).toEqual(Array.from({ length: 150 }, (_, number) => String(number).padStart(3, '0')));
    expect(pages()).toBeLessThan(8);
  });

  it('reads several pages in one search', async () => {
    const { take, pages } = await queueOf(150);
    expect(new Set(await take(150)).size).toBe(150);
    expect(pages()).toBe(3);
  });

  it('reads again some time after a hint, after a lost claim, and if one page held all calls', async () => {
    const { candidates, take, pages } = await queueOf(150);
    await take(5);
    candidates.hinted();
    await pause(120);
    await take(5);
    expect(pages()).toBe(2);
    candidates.forget();
    await take(5);
    expect(pages()).toBe(3);
    const small = await queueOf(20);
    await small.take(5);
    await small.take(5);
    expect(small.pages()).toBe(2);
  });
});
