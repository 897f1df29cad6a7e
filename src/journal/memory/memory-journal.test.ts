import { describe, expect, it } from 'vitest';
import type { Acceptance, Journal } from '../../contract/journal.js';
import { describeJournal } from '../../testing/describe-journal.js';
import { batchEntry, callEntry, successOf, WORKER } from '../../testing/journal-entries.js';
import { createMemoryJournal } from './memory-journal.js';

describeJournal('createMemoryJournal()', () => ({ journal: createMemoryJournal() }), { describe, it });

describe('createMemoryJournal()', () => {
  it('answers with plain values and says that it is not durable', () => {
    const journal = createMemoryJournal();
    expect(journal.durable).toBe(false);
    const [answer] = acceptNow(journal, 'b1', ['x']);
    expect(journal.claim(answer?.key ?? '', WORKER, 1)).toBe(true);
    expect(journal.finish(answer?.key ?? '', successOf('x'), 2, WORKER)).toBe('recorded');
    expect(journal.sync()).toBe(undefined);
  });

  it('keeps the newest finished batches whole, up to its capacity, and every unfinished one', () => {
    const journal = createMemoryJournal({ capacity: 4 });
    const [open] = acceptNow(journal, 'open', ['o1', 'o2']);
    void journal.finish(open?.key ?? '', successOf('o1'), 1, WORKER);
    for (let batch = 0; batch < 10; batch++) {
      for (const { key } of acceptNow(journal, `b${batch}`, ['x', 'y']))
        void journal.finish(key, successOf('x'), 1, WORKER);
    }
    expect(journal.batch('b7')).toEqual([]);
    expect(journal.batch('b8')).toHaveLength(2);
    expect(journal.batch('b9')).toHaveLength(2);
    expect(journal.batch('open')).toMatchObject([{ state: 'done' }, { state: 'queued' }]);
    expect(journal.finish('b0/0', successOf('x'), 2, WORKER)).toBe('late');
  });

  it('attaches to the calls that it keeps, and treats forgotten ones as new', () => {
    const journal = createMemoryJournal({ capacity: 1 });
    const [first] = acceptNow(journal, 'b1', ['x'], true);
    void journal.finish(first?.key ?? '', successOf('x'), 1, WORKER);
    expect(acceptNow(journal, 'b2', ['x'], true)).toMatchObject([{ kind: 'known', key: 'b1/0' }]);
    // The batch that only attached has displaced the first one.
    const [again] = acceptNow(journal, 'b3', ['x'], true);
    expect(again).toMatchObject({ kind: 'fresh', key: 'b3/0' });
    expect(acceptNow(journal, 'b4', ['x'], true)).toMatchObject([{ kind: 'known', key: 'b3/0' }]);
  });

  it('finds the first delivery of a call, and a rerun only after the first is forgotten', () => {
    const journal = createMemoryJournal({ capacity: 2 });
    const finish = (answers: readonly Acceptance[]): void => {
      for (const { key } of answers) void journal.finish(key, successOf('x'), 1, WORKER);
    };
    finish(acceptNow(journal, 'b1', ['x'], true));
    finish(acceptNow(journal, 'b2', ['x'], false));
    expect(journal.find('conversation', 'x')).toMatchObject({ batchId: 'b1' });
    finish(acceptNow(journal, 'b3', ['y'], true));
    expect(journal.find('conversation', 'x')).toMatchObject({ batchId: 'b2' });
    finish(acceptNow(journal, 'b4', ['z'], true));
    expect(journal.find('conversation', 'x')).toBeUndefined();
    expect(journal.find('conversation', 'z')).toMatchObject({ batchId: 'b4' });
  });

  it('keeps no finished batch with a capacity of 0', () => {
    const journal = createMemoryJournal({ capacity: 0 });
    const [answer] = acceptNow(journal, 'b1', ['x']);
    expect(journal.batch('b1')).toHaveLength(1);
    void journal.finish(answer?.key ?? '', successOf('x'), 1, WORKER);
    expect(journal.batch('b1')).toEqual([]);
  });

  it('keeps its memory use flat over many calls', () => {
    const journal = createMemoryJournal();
    const run = (from: number): void => {
      for (let batch = from; batch < from + 20_000; batch++) {
        for (const { key } of acceptNow(journal, `b${batch}`, ['x', 'y'], batch % 2 === 0)) {
          void journal.claim(key, WORKER, 1);
          void journal.finish(key, successOf('x'), 2, WORKER);
        }
      }
    };
    run(0);
    expect(kept(journal, 20_000)).toBeLessThanOrEqual(1000);
    run(20_000);
    expect(kept(journal, 40_000)).toBeLessThanOrEqual(1000);
  });

  it('refuses a capacity that is not a whole number', () => {
    for (const capacity of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => createMemoryJournal({ capacity })).toThrow(
        expect.objectContaining({
          code: 'config_invalid',
          message: expect.stringContaining(String(capacity)),
        }),
      );
    }
  });
});

function acceptNow(
  journal: Journal,
  id: string,
  callIds: readonly string[],
  attach = false,
): readonly Acceptance[] {
  const conversation = attach && callIds.length > 1 ? id : 'conversation';
  const accepted = journal.accept(
    batchEntry(
      id,
      callIds.map((callId) => callEntry(callId)),
      { attach, conversation },
    ),
  );
  if (accepted instanceof Promise) throw new Error('expected a plain value');
  return accepted;
}

/** How many calls of the first `batches` batches still exist. */
function kept(journal: Journal, batches: number): number {
  let count = 0;
  for (let batch = 0; batch < batches; batch++) {
    const calls = journal.batch(`b${batch}`);
    if (!(calls instanceof Promise)) count += calls.length;
  }
  return count;
}
