import { describe, expect, it, onTestFinished } from 'vitest';
import { createExecutor } from '../executor/create-executor.js';
import { probeTool } from '../executor/fixtures/probe-tool.js';
import { createMemoryJournal } from '../journal/memory/memory-journal.js';
import { batchEntry, callEntry } from '../testing/journal-entries.js';
import { createWorker } from './create-worker.js';

describe('a batch that is accepted, but whose acceptance the host never learns', () => {
  it('bug: the refusal of the host replaced the run of a worker, and the call ran a second time', async () => {
    const journal = createMemoryJournal();
    const { accept } = journal;
    let accepted = 0;
    journal.accept = async (entry) => {
      const acceptances = await accept.call(journal, entry);
      if (accepted++ === 0) throw new Error('the connection is lost');
      return acceptances;
    };
    const ran: string[] = [];
    const work = probeTool('work', async ({ as }) => {
      ran.push(String(as));
      // The host tries to record its answer at the same time.
      await new Promise((resolve) => setTimeout(resolve, 400));
      return 'done';
    });
    const worker = createWorker({ journal, tools: [work], policy: null, leaseMs: 60_000 });
    const host = createExecutor({
      ...{ journal, tools: [probeTool('work', () => 'never here')], policy: null, approver: null },
      fleet: { run: 'anywhere' },
    });
    onTestFinished(async () => {
      await host.close();
      await worker.close();
    });
    const send = async () => {
      const call = { id: 'once', name: 'work', args: { as: 'once' } };
      const [result] = await host.run([call], { conversation: 'c' });
      return result;
    };
    const first = await send();
    expect(first?.error).toMatchObject({ code: 'journal_unavailable', details: { executed: 'maybe' } });
    await expect.poll(() => ran).toEqual(['once']);
    // Long enough for the host to record its answer.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await send()).toMatchObject({ success: true, output: 'done' });
    expect(ran).toEqual(['once']);
  });
});

it('bug: a call with the id of another one ran if a worker looked before its host had refused it', async () => {
  const journal = createMemoryJournal();
  const { accept } = journal;
  journal.accept = async (entry) => {
    const acceptances = await accept.call(journal, entry);
    // A worker looks many times meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 400));
    return acceptances;
  };
  const ran: string[] = [];
  const work = probeTool('work', ({ as }) => `did ${ran[ran.push(String(as)) - 1]}`);
  const worker = createWorker({ journal, tools: [work], policy: null });
  const host = createExecutor({ journal, tools: [work], policy: null, fleet: { run: 'anywhere' } });
  onTestFinished(async () => {
    await host.close();
    await worker.close();
  });
  const send = (as: string, id = 'same') =>
    host.run([{ id, name: 'work', args: { as } }], { conversation: 'c' });
  expect((await send('first'))[0]?.output).toBe('did first');
  const [[refused], [next]] = await Promise.all([send('second'), send('third', 'next')]);
  expect(refused?.error).toMatchObject({ code: 'duplicate_tool_call_id', details: { executed: 'no' } });
  expect(next?.output).toBe('did third');
  expect(ran).toEqual(['first', 'third']);
});

it('bug: a refused call was never answered if its host died before it recorded the refusal', async () => {
  const journal = createMemoryJournal();
  const refused = { ...callEntry('refused'), disposition: 'pre_resolved' } as const;
  const twoMinutesAgo = Date.now() - 121_000;
  await journal.accept(batchEntry('dead', [refused], { placement: {}, at: twoMinutesAgo }));
  await journal.accept(batchEntry('alive', [refused], { placement: {}, at: Date.now() }));
  const [dead, alive] = ['dead', 'alive'].map((batch) => journal.batch(batch));
  // It does not have the tool of the calls.
  const worker = createWorker({ journal, tools: [probeTool('work', () => 'done')], policy: null });
  onTestFinished(() => worker.close());
  const resultOf = async (records: typeof dead) =>
    (await journal.call((await records)?.[0]?.key ?? ''))?.result;
  await expect
    .poll(() => resultOf(dead))
    .toMatchObject({
      error: { code: 'cancelled', details: { executed: 'no', reason: 'host_lost' } },
    });
  expect(await resultOf(alive)).toBeUndefined();
});
