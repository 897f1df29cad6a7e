import { describe, expect, it } from 'vitest';
import { disown, ownStrayErrors, watchStrayErrors } from './stray-errors.js';

describe('an error that nobody caught', () => {
  it('is its owner’s, unless what threw it had been disowned', async () => {
    let handle: (error: unknown) => boolean = () => false;
    watchStrayErrors((told) => {
      handle = told;
      return () => {};
    });
    const told: unknown[] = [];
    const owner = { strayError: (error: unknown): void => void told.push(error) };
    // Where the error comes up is all that counts; `handle` stands there for the process.
    const later = (error: string): Promise<boolean> =>
      new Promise((resolve) => setTimeout(() => resolve(handle(error)), 1));
    const { inside, outside } = ownStrayErrors(owner, () => ({
      inside: later('inside'),
      outside: disown(later, 'outside'),
    }));
    expect(await inside).toBe(true);
    expect(await outside).toBe(false);
    expect(told).toEqual(['inside']);
  });
});
