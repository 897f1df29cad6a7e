import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Patience } from './patience.js';

// For the whole file: the one timer of all waits goes on from test to test.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterAll(() => vi.useRealTimers());

const never = new Promise<never>(() => {});

/** What a wait came to, with the time when it did. */
function told(patience: Patience, work: Promise<string>): { text: string } {
  const said = { text: 'waits' };
  const begun = performance.now();
  const note = (what: string): void => {
    said.text = `${what} after ${performance.now() - begun}ms`;
  };
  patience.waitFor(work, note, (error) => note(String(error)));
  return said;
}

describe('Patience', () => {
  it('ends as the work does', async () => {
    const full = Promise.reject(new Error('full'));
    const done = told(new Patience(5_000), Promise.resolve('written'));
    const failed = told(new Patience(5_000), full);
    await vi.advanceTimersByTimeAsync(0);
    expect([done.text, failed.text]).toEqual(['written after 0ms', 'Error: full after 0ms']);
  });

  it('says once how a wait ended, whatever the work does after its time', async () => {
    const ends: string[] = [];
    let finish: ((text: string) => void) | undefined;
    const late = new Promise<string>((resolve) => {
      finish = resolve;
    });
    new Patience(5_000).waitFor(
      late,
      (value) => ends.push(value),
      () => ends.push('gave up'),
    );
    await vi.advanceTimersByTimeAsync(6_000);
    finish?.('written');
    await vi.advanceTimersByTimeAsync(0);
    expect(ends).toEqual(['gave up']);
  });

  it('gives up on work that takes too long', async () => {
    const said = told(new Patience(5_000), never);
    await vi.advanceTimersByTimeAsync(4_900);
    expect(said.text).toBe('waits');
    await vi.advanceTimersByTimeAsync(200);
    expect(said.text).toBe('ToolError: The journal did not answer within 5000ms. after 5000ms');
  });

  it('waits a second at most once the batch was told to stop, also for what is asked later', async () => {
    const patience = new Patience(60_000);
    const other = told(new Patience(60_000), never);
    const early = told(patience, never);
    await vi.advanceTimersByTimeAsync(10_000);
    patience.hurry();
    const late = told(patience, never);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(early.text).toBe('ToolError: The journal did not answer within 1000ms. after 11000ms');
    expect(late.text).toBe('ToolError: The journal did not answer within 1000ms. after 1000ms');
    expect(other.text).toBe('waits');
  });
});
