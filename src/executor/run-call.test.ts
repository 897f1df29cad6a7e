import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Effect } from '../contract/effect.js';
import type { Journal, Worker } from '../contract/journal.js';
import { openJournal } from '../journal/open-journal.js';
import { workerOfThisProcess } from '../platform/process/worker-of-this-process.js';
import { failureOf, successOf } from '../testing/journal-entries.js';
import { executorOf, folder } from './fixtures/plan-fixture.js';
import { callsOf, NEVER, pause, probeTool } from './fixtures/probe-tool.js';

const SENDS = { effects: (): readonly Effect[] => [{ kind: 'fetch', url: 'https://bank.example' }] };

/** A batch of two calls; while the first runs, another worker claims the second. */
function claimedBy(worker: Worker) {
  const path = join(folder(), 'journal.db');
  const other = openJournal(path);
  onTestFinished(() => other.close());
  const runs: string[] = [];
  let second = '';
  const first = probeTool(
    'first',
    async () => {
      const [batch] = await other.batches();
      second = (await other.batch(batch?.id ?? ''))[1]?.key ?? '';
      return String(await other.claim(second, worker, 1));
    },
    SENDS,
  );
  const pays = probeTool('pays', () => String(runs.push('pays')), SENDS);
  const executor = executorOf([first, pays], { policy: null, approver: null, journal: path });
  return { executor, other, runs, secondKey: () => second };
}

describe('a call that another process has claimed in the meantime', () => {
  it('is not run here: its answer there is waited for, and is the answer', async () => {
    const { executor, other, runs, secondKey } = claimedBy({ ...workerOfThisProcess(), id: 'other' });
    const running = executor.run(callsOf('first', 'pays'));
    await expect.poll(async () => (await other.call(secondKey()))?.state).toBe('running');
    expect(await Promise.race([running, pause(100)])).toBeUndefined();
    await other.finish(secondKey(), successOf('c1', 'paid there'), 2, { id: 'other' });
    const results = await running;
    expect(results[0]?.output).toBe('true');
    expect(results[1]).toEqual(successOf('c1', 'paid there'));
    expect((await other.call(secondKey()))?.result).toEqual(results[1]);
    expect(runs).toEqual([]);
  });

  it('has an unknown outcome if that process is dead', async () => {
    const { executor, other, runs, secondKey } = claimedBy({ id: 'other', pid: 1, startedAt: 1 });
    const results = await executor.run(callsOf('first', 'pays'));
    expect(results[1]?.error).toMatchObject({ code: 'outcome_unknown', details: { executed: 'maybe' } });
    expect((await other.call(secondKey()))?.result).toEqual(results[1]);
    expect(runs).toEqual([]);
  });
});

describe('a call that another process ends while it runs here', () => {
  const meddled = (effects: readonly Effect[], meddle: (other: Journal, key: string) => Promise<unknown>) => {
    const path = join(folder(), 'journal.db');
    const other = openJournal(path);
    onTestFinished(() => other.close());
    const tool = probeTool(
      'tool',
      async () => {
        await expect.poll(async () => (await other.unfinished()).length).toBe(1);
        await meddle(other, (await other.unfinished())[0]?.key ?? '');
        return 'ours';
      },
      { effects: () => effects },
    );
    return { executor: executorOf([tool], { policy: null, approver: null, journal: path }), other };
  };

  it('gets the answer of the journal, and its outcome here is recorded beside it', async () => {
    const lost = failureOf('c0', 'outcome_unknown');
    const { executor, other } = meddled(SENDS.effects(), async (journal, key) => {
      const worker = (await journal.call(key))?.worker;
      expect(await journal.finish(key, lost, 2, worker ?? 'queued')).toBe('recorded');
    });
    expect(await executor.run(callsOf('tool'))).toEqual([lost]);
    const [record] = await other.batch((await other.batches())[0]?.id ?? '');
    expect(record?.result).toEqual(lost);
    const kinds = (await other.notes(record?.key ?? '')).map(({ kind, data }) => [kind, data.output]);
    expect(kinds).toEqual([['late_result', 'ours']]);
  });

  it('gets the answer of the worker that has claimed it in the meantime', async () => {
    const worker = { ...workerOfThisProcess(), id: 'other' };
    const { executor } = meddled([{ kind: 'read', path: 'a' }], async (journal, key) => {
      expect(await journal.claim(key, worker, 1)).toBe(true);
      setTimeout(() => void journal.finish(key, successOf('c0', 'theirs'), 2, worker), 100);
    });
    expect(await executor.run(callsOf('tool'))).toEqual([successOf('c0', 'theirs')]);
  });
});

describe('a reader of the events', () => {
  it('sees a call completed before the next one starts, although the next one need not wait for the disk', async () => {
    const reads = probeTool('reads', () => 'x', { effects: () => [{ kind: 'read', path: 'a' }] });
    const journal = join(folder(), 'journal.db');
    const executor = executorOf([reads], { policy: null, approver: null, journal });
    const seen: string[] = [];
    for await (const event of executor.start(callsOf('reads', 'reads', 'reads')).events)
      if (event.type === 'started' || event.type === 'completed') seen.push(`${event.type} ${event.callId}`);
    expect(seen).toEqual(['c0', 'c1', 'c2'].flatMap((id) => [`started ${id}`, `completed ${id}`]));
  });
});

describe('a tool that comes back after its call was cut short', () => {
  it('changes nothing, even while middleware keeps the call open', async () => {
    let comeBack: (text: string) => void = () => {};
    const late = new Promise<string>((resolve) => {
      comeBack = resolve;
    });
    const executor = executorOf([probeTool('slow', () => late, { timeoutMs: 20 })], {
      policy: null,
      approver: null,
      middleware: [
        async (_call, _context, next) => {
          await next();
          comeBack('late');
          return NEVER;
        },
      ],
    });
    const [result] = await executor.run(callsOf('slow'));
    expect(result).toMatchObject({ success: false, output: '', error: { code: 'timeout' } });
  });
});

describe('the whole output of a cut result', () => {
  it('bug: was gone with the executor if the host had opened the journal', async () => {
    const long = 'line\n'.repeat(2_000);
    const path = join(folder(), 'journal.db');
    const run = async () => {
      const journal = openJournal(path);
      onTestFinished(() => journal.close());
      const options = { policy: null, journal, output: { maxBytes: 1_000 } };
      await using executor = executorOf([probeTool('talk', () => long)], options);
      const [result] = await executor.run(callsOf('talk'), { conversation: 'one' });
      return (await executor.readOutput(result?.outputRef ?? '')).length;
    };
    expect(await run()).toBe(long.length);
    expect(await run()).toBe(long.length);
  });
});
