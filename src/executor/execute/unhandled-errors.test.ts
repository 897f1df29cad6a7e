import { describe, expect, it } from 'vitest';
import { runInScope, watchUnhandledErrors } from '../call/unhandled-errors.js';

describe('an error that nobody caught', () => {
  it('reaches the call it belongs to, unless it was thrown outside of every call', async () => {
    let handle: (error: unknown) => boolean = () => false;
    watchUnhandledErrors((told) => {
      handle = told;
      return () => {};
    });
    const told: unknown[] = [];
    const owner = { unhandledError: (error: unknown): void => void told.push(error) };
    // Only the origin of the error matters; `handle` takes the place of the process.
    const later = (error: string): Promise<boolean> =>
      new Promise((resolve) => setTimeout(() => resolve(handle(error)), 1));
    const { inside, outside } = runInScope(owner, () => ({
      inside: later('inside'),
      outside: runInScope(undefined, later, 'outside'),
    }));
    expect(await inside).toBe(true);
    expect(await outside).toBe(false);
    expect(told).toEqual(['inside']);
  });
});
