import { describe, expect, it, onTestFinished } from 'vitest';
import type { Journal, Worker } from '../contract/journal.js';

import { createExecutor } from '../executor/create-executor.js';
import { probeTool } from '../executor/fixtures/probe-tool.js';
import { createMemoryJournal } from '../journal/memory/memory-journal.js';
import { systemClock } from '../platform/clock/clock.js';
import { batchEntry, callEntry } from '../testing/journal-entries.js';
import { createWorker, type WorkerOptions } from './create-worker.js';

const DEAD: Worker & { readonly epoch: number } = { id: 'dead', pid: 1, startedAt: 1, epoch: 1 };

function startWorker(options: WorkerOptions) {
  const worker = createWorker({ policy: null, ...options });
  onTestFinished(() => worker.close());
  return worker;
}

function startHost(journal: Journal) {
  const tools = [probeTool('work', () => 'never here')];
  const host = createExecutor({ journal, tools, policy: null, approver: null, fleet: { run: 'anywhere' } });
  onTestFinished(() => host.close());
  return host;
}

describe('a lease', () => {
  it('that is lost between claim and start keeps the tool from starting: cancelled, not executed', async () => {
    let skipped = 0;
    let claims = 0;
    const journal = createMemoryJournal();
    const { claim } = journal;
    // The answer to the first claim comes after the lease.
    journal.claim = (key, worker, at) => {
      const isOurs = claim.call(journal, key, worker, at);
      if (worker.epoch !== undefined && claims++ === 0) skipped = 60_001;
      return isOurs;
    };
    const ran: string[] = [];
    const work = probeTool('work', ({ as }) => {
      ran.push(String(as));
      return 'done';
    });
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + skipped };
    startWorker({ journal, tools: [work], clock, leaseMs: 60_000 });
    const host = startHost(journal);
    const [late] = await host.run([{ id: 'late', name: 'work', args: { as: 'late' } }], {
      conversation: 'c',
    });
    expect(late?.error).toMatchObject({
      code: 'cancelled',
      details: { executed: 'no', reason: 'lease_lost' },
    });
    const [next] = await host.run([{ id: 'next', name: 'work', args: { as: 'next' } }], {
      conversation: 'c',
    });
    expect(next?.output).toBe('done');
    expect(ran).toEqual(['next']);
  });

  it.each<readonly ['applied' | 'not_applied' | 'unknown', object]>([
    ['applied', { success: true, metadata: { settled_by: 'probe' } }],
    ['not_applied', { error: { code: 'cancelled', details: { executed: 'no' } } }],
    ['unknown', { error: { code: 'outcome_unknown', details: { executed: 'maybe' } } }],
  ])('that has run out leaves its calls to the probe of another worker: %s', async (verdict, expected) => {
    const journal = createMemoryJournal();
    const [accepted] = await journal.accept(
      batchEntry('b1', [{ ...callEntry('x'), toolName: 'work', effects: [] }], { placement: {} }),
    );
    const key = accepted?.key ?? '';
    await journal.renew?.(DEAD, 1, { leaseMs: 150 });
    expect(await journal.claim(key, DEAD, 2)).toBe(true);
    const ran: string[] = [];
    const probed: string[] = [];
    const work = probeTool('work', () => void ran.push('x'), {
      probe: () => {
        probed.push('x');
        return verdict;
      },
    });
    startWorker({ journal, tools: [work], leaseMs: 300 });
    await expect.poll(async () => (await journal.call(key))?.result).toBeDefined();
    expect((await journal.call(key))?.result).toMatchObject(expected);
    expect(probed).toEqual(['x']);
    // The dead worker was only paused: its claim is over, and its result does not replace the first one.
    expect(await journal.renew?.(DEAD, 3)).toBeUndefined();
    expect(ran).toEqual([]);
  });
});
