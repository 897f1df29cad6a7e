import { describe, expect, it } from 'vitest';
import type { ToolEvent } from '../contract/executor.js';
import type { JsonObject } from '../contract/json.js';
import { createExecutor } from './create-executor.js';
import { executorOf, folder } from './fixtures/plan-fixture.js';
import { callsOf, probeTool } from './fixtures/probe-tool.js';

function echoing() {
  const seen: JsonObject[] = [];
  const tool = probeTool('echo', (args) => {
    seen.push(args);
    return String(args.text);
  });
  return { tool, seen };
}

const call = (text: string) => ({ id: text, name: 'echo', args: { text } });

describe('an executor that was not used before', () => {
  it('runs the calls and options as they were handed over', async () => {
    const { tool, seen } = echoing();
    const given = call('as it was');
    const calls = [given];
    const options = { dryRun: false };
    const running = executorOf([tool]).run(calls, options);
    given.args.text = 'changed';
    calls.push(call('one more'));
    options.dryRun = true;
    expect((await running).map(({ output }) => output)).toEqual(['as it was']);
    expect(seen).toEqual([{ text: 'as it was' }]);
  });

  it('begins conflicting calls in the order in which it was asked', async () => {
    const seen: JsonObject[] = [];
    const tool = probeTool('echo', (args) => String(seen.push(args)), {
      effects: () => [{ kind: 'write', path: 'a' }],
    });
    const executor = executorOf([tool], { approver: null });
    const first = executor.run([call('a')]);
    const started = executor.start([call('b')]);
    const third = executor.execute('echo', { text: 'c' });
    const last = executor.plan([]).then(() => executor.invoke('echo', { text: 'd' }));
    await Promise.all([first, started.results, third, last]);
    expect(seen.map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('gives the id and all events of its first batch', async () => {
    const run = executorOf([echoing().tool]).start([call('a')]);
    const events: ToolEvent[] = [];
    for await (const event of run.events) events.push(event);
    expect(events.map(({ type }) => type)).toEqual(['planned', 'started', 'completed']);
    expect(run.id).not.toBe('');
  });

  it('runs no call of a batch that was cancelled immediately', async () => {
    const { tool, seen } = echoing();
    const run = executorOf([tool]).start([call('a'), call('b')]);
    run.cancel('not any more');
    run.cancel('nor this');
    const results = await run.results;
    expect(results.map(({ error }) => [error?.code, error?.details?.executed])).toEqual([
      ['cancelled', 'no'],
      ['cancelled', 'no'],
    ]);
    expect(results[0]?.error?.details?.reason).toBe('not any more');
    expect(seen).toEqual([]);
  });

  it('answers what it was asked before it was closed, and refuses what comes later', async () => {
    const hangs = probeTool('hangs', () => new Promise(() => {}));
    const executor = executorOf([hangs]);
    const running = executor.run(callsOf('hangs'));
    const closing = executor.close();
    const late = executor.run(callsOf('hangs'));
    expect(() => executor.start(callsOf('hangs'))).toThrow('the executor is closed');
    await expect(late).rejects.toMatchObject({ code: 'cancelled' });
    expect((await running).map(({ error }) => error?.code)).toEqual(['cancelled']);
    await closing;
  });

  it('refuses calls from the moment it is closed, even if it was used before', async () => {
    const executor = executorOf([echoing().tool]);
    await executor.run([call('a')]);
    const closing = executor.close();
    expect(() => executor.start([call('b')])).toThrow('the executor is closed');
    await expect(executor.run([call('b')])).rejects.toMatchObject({ code: 'cancelled' });
    await closing;
  });

  it('refuses when it was closed without being used', async () => {
    const executor = executorOf([echoing().tool]);
    await executor.close();
    expect(() => executor.start([call('a')])).toThrow('the executor is closed');
    await expect(executor.run([call('a')])).rejects.toMatchObject({ code: 'cancelled' });
    await expect(executor.recover()).rejects.toMatchObject({ code: 'cancelled' });
    expect(executor.definitions()).toHaveLength(1);
  });

  it('refuses invalid calls and options before it looks for a tool', () => {
    const executor = executorOf([echoing().tool]);
    expect(() => executor.start('calls' as never)).toThrow('an array');
    expect(() => executor.start([], { dryRun: 1 } as never)).toThrow('dryRun');
  });

  it('says of a rule what only its examples show, whatever is asked first', async () => {
    const rule = { decision: 'deny', path: '*.pem', match: 'a.key' } as const;
    const executor = createExecutor({ root: folder(), policy: { rules: [rule] } });
    const refusal = { code: 'config_invalid', message: expect.stringContaining('a.key') };
    await expect(executor.plan([])).rejects.toMatchObject(refusal);
    await expect(executor.run([])).rejects.toMatchObject(refusal);
    const run = executor.start([]);
    await expect(run.events[Symbol.asyncIterator]().next()).rejects.toMatchObject(refusal);
    await executor.close();
  });

  it('says of a rule at once what can be read', () => {
    const policy = { rules: [{ decision: 'deny', path: 'a{b' } as const] };
    expect(() => createExecutor({ root: folder(), policy })).toThrow('rules[0]');
  });
});
