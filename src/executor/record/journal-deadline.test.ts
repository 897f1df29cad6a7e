import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { JournalDeadline } from './journal-deadline.js';

// For the whole file: the shared timer of all waits continues from test to test.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterAll(() => vi.useRealTimers());

const never = new Promise<never>(() => {});

interface Ending {
  text: string;
}

/** The outcome of a wait, and its duration. */
function endingOf(deadline: JournalDeadline, work: Promise<string>): Ending {
  const ending = { text: 'waits' };
  const begun = performance.now();
  const note = (what: string): void => {
    ending.text = `${what} after ${performance.now() - begun}ms`;
  };
  deadline.within(work).then(note, (error: unknown) => note(String(error)));
  return ending;
}

describe('JournalDeadline', () => {
  it('ends as the work does', async () => {
    const full = Promise.reject(new Error('full'));
    const done = endingOf(new JournalDeadline(5_000), Promise.resolve('written'));
    const failed = endingOf(new JournalDeadline(5_000), full);
    await vi.advanceTimersByTimeAsync(0);
    expect([done.text, failed.text]).toEqual(['written after 0ms', 'Error: full after 0ms']);
  });

  it('settles a wait once, whatever the work does after its time', async () => {
    const ends: string[] = [];
    let finish: ((text: string) => void) | undefined;
    const late = new Promise<string>((resolve) => {
      finish = resolve;
    });
    new JournalDeadline(5_000).within(late).then(
      (value) => ends.push(value),
      () => ends.push('gave up'),
    );
    await vi.advanceTimersByTimeAsync(6_000);
    finish?.('written');
    await vi.advanceTimersByTimeAsync(0);
    expect(ends).toEqual(['gave up']);
  });

  it('gives up on work that takes too long', async () => {
    const said = endingOf(new JournalDeadline(5_000), never);
    await vi.advanceTimersByTimeAsync(4_900);
    expect(said.text).toBe('waits');
    await vi.advanceTimersByTimeAsync(200);
    expect(said.text).toBe('ToolError: The journal did not answer within 5000ms. after 5000ms');
  });

  it('waits a second at most once the batch was stopped, for later requests too', async () => {
    const deadline = new JournalDeadline(60_000);
    const other = endingOf(new JournalDeadline(60_000), never);
    const early = endingOf(deadline, never);
    await vi.advanceTimersByTimeAsync(10_000);
    deadline.hurry();
    const late = endingOf(deadline, never);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(early.text).toBe('ToolError: The journal did not answer within 1000ms. after 11000ms');
    expect(late.text).toBe('ToolError: The journal did not answer within 1000ms. after 1000ms');
    expect(other.text).toBe('waits');
  });
});
