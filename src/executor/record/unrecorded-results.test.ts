import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Executor, ToolEvent } from '../../contract/executor.js';
import type { Journal } from '../../contract/journal.js';
import { openJournal } from '../../journal/open-journal.js';
import { createExecutor } from '../create-executor.js';
import { probeTool } from '../fixtures/probe-tool.js';

let folder: string;
let journal: Journal;
let broken: Set<string>;
let runs: string[];
const opened: Executor[] = [];

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-unrecorded-')));
  journal = openJournal(join(folder, 'journal.db'));
  broken = new Set();
  runs = [];
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((executor) => executor.close()));
  await journal.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A journal on a disk that the test can make fail, operation by operation. */
function failing(): Journal {
  return new Proxy(journal, {
    get(target, name) {
      if (broken.has(String(name))) return () => Promise.reject(new Error('ENOSPC: no space left on device'));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function executor(of: Journal): Executor {
  const pay = probeTool(
    'pay',
    async (args) => {
      runs.push(String(args.to));
      return `paid ${String(args.to)}`;
    },
    { effects: () => [{ kind: 'fetch', url: 'https://bank.example' }] },
  );
  const made = createExecutor({ root: folder, tools: [pay], policy: null, approver: null, journal: of });
  opened.push(made);
  return made;
}

const CALL = [{ id: 'a', name: 'pay', args: { to: 'ada' } }];
const NAMED = { conversation: 'c' };

describe('an answer that the journal does not take', () => {
  it('says so, stays a success, and is the answer of a second delivery at once', async () => {
    const one = executor(failing());
    await one.run([{ id: 'before', name: 'pay', args: { to: 'bob' } }], NAMED);
    broken.add('finish');
    const [first] = await one.run(CALL, NAMED);
    expect(first).toMatchObject({ success: true, output: 'paid ada', metadata: { recorded: false } });
    const begun = performance.now();
    const [second] = await one.run(CALL, NAMED);
    expect(second).toMatchObject({ success: true, output: 'paid ada' });
    expect(second?.metadata).toMatchObject({ replayed: true, recorded: false });
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(runs).toEqual(['bob', 'ada']);
  });

  it('is written as soon as the journal works again, with no further call', async () => {
    const one = executor(failing());
    broken.add('finish');
    await one.run(CALL, NAMED);
    expect((await journal.find('c', 'a'))?.state).toBe('running');
    broken.clear();
    await expect.poll(async () => (await journal.find('c', 'a'))?.result?.output).toBe('paid ada');
    const [again] = await executor(journal).run(CALL, NAMED);
    expect(again).toMatchObject({ output: 'paid ada', metadata: { replayed: true } });
    expect(again?.metadata.recorded).toBeUndefined();
    expect(runs).toEqual(['ada']);
  });

  it('is written at the latest when the executor closes', async () => {
    const one = executor(failing());
    broken.add('finish');
    await one.run(CALL, NAMED);
    broken.clear();
    await one.close();
    expect((await journal.find('c', 'a'))?.result?.output).toBe('paid ada');
  });

  it('is not final if nothing was run: delivered again, the call runs', async () => {
    const one = executor(failing());
    broken.add('claim').add('finish');
    const [refused] = await one.run(CALL, NAMED);
    expect(refused).toMatchObject({
      error: { code: 'journal_unavailable', details: { executed: 'no' } },
      metadata: { recorded: false },
    });
    broken.clear();
    expect((await one.run(CALL, NAMED))[0]).toMatchObject({ success: true, output: 'paid ada' });
    expect(runs).toEqual(['ada']);
  });

  it('is not waited for in vain where the batch itself was not recorded', async () => {
    const one = executor(failing());
    broken.add('accept');
    expect((await one.run(CALL, NAMED))[0]).toMatchObject({
      error: { code: 'journal_unavailable' },
      metadata: { recorded: false },
    });
    broken.clear();
    expect((await one.run(CALL, NAMED))[0]?.output).toBe('paid ada');
  });
});

describe('a completed event', () => {
  it('is shown once its result is on disk, and says where it is not', async () => {
    const one = executor(failing());
    const seen: [string, string | undefined, unknown][] = [];
    const watch = async (events: AsyncIterable<ToolEvent>): Promise<void> => {
      for await (const event of events) {
        if (event.type !== 'completed') continue;
        const record = await journal.find('c', event.callId);
        seen.push([event.callId, record?.state, event.result.metadata.recorded]);
      }
    };
    const calls = ['1', '2', '3'].map((id) => ({ id, name: 'pay', args: { to: id } }));
    const run = one.start(calls, NAMED);
    await Promise.all([watch(run.events), run.results]);
    broken.add('finish');
    const last = one.start([{ id: '4', name: 'pay', args: { to: '4' } }], NAMED);
    await Promise.all([watch(last.events), last.results]);
    expect(seen).toEqual([
      ['1', 'done', undefined],
      ['2', 'done', undefined],
      ['3', 'done', undefined],
      ['4', 'running', false],
    ]);
  });
});
