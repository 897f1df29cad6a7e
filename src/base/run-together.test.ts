import { describe, expect, it } from 'vitest';
import { runTogether } from './run-together.js';

/** Work that the test ends by hand, and that records when it starts. */
function desk() {
  const started: number[] = [];
  const ends = new Map<number, () => void>();
  const run = (place: number): Promise<void> => {
    started.push(place);
    return new Promise((resolve) => ends.set(place, resolve));
  };
  const end = async (...places: readonly number[]): Promise<void> => {
    for (const place of places) ends.get(place)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { started, run, end };
}

describe('runTogether()', () => {
  it('starts work in order, and never more at a time than the limit', async () => {
    const { started, run, end } = desk();
    const all = runTogether({ count: 4, limit: 2, waitsFor: () => false, run });
    expect(started).toEqual([0, 1]);
    await end(1);
    expect(started).toEqual([0, 1, 2]);
    await end(0, 2);
    expect(started).toEqual([0, 1, 2, 3]);
    await end(3);
    await all;
  });

  it('lets later work pass work that waits, and starts that first once it is free', async () => {
    const { started, run, end } = desk();
    const waitsFor = (later: number, earlier: number): boolean => later === 1 && earlier === 0;
    const all = runTogether({ count: 5, limit: 2, waitsFor, run });
    expect(started).toEqual([0, 2]);
    await end(0);
    expect(started).toEqual([0, 2, 1]);
    await end(2, 1);
    expect(started).toEqual([0, 2, 1, 3, 4]);
    await end(3, 4);
    await all;
  });

  it('ends when the last piece has ended, and at once without any', async () => {
    await runTogether({ count: 0, limit: 1, waitsFor: () => true, run: () => Promise.reject(new Error()) });
    const { run, end } = desk();
    let hasEnded = false;
    const all = runTogether({ count: 2, limit: 8, waitsFor: () => false, run }).then(() => {
      hasEnded = true;
    });
    await end(0);
    expect(hasEnded).toBe(false);
    await end(1);
    await all;
    expect(hasEnded).toBe(true);
  });
});
