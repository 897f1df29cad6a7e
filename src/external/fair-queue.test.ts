import { describe, expect, it } from 'vitest';
import { FairQueue } from './fair-queue.js';
import { executorFor, openTools } from './fixtures/open-tools.js';
import { scriptOf, ToolsFolder } from './fixtures/tools-folder.js';

const IDLE = new AbortController().signal;

describe('FairQueue', () => {
  it('limits how many run, and conversations take turns', async () => {
    const queue = new FairQueue(1);
    const [busy, quiet] = [{}, {}];
    const order: string[] = [];
    const first = await queue.take(busy, IDLE);
    const wait = async (name: string, lane: object): Promise<void> => {
      const giveBack = await queue.take(lane, IDLE);
      order.push(name);
      giveBack();
    };
    const all = [wait('a1', busy), wait('a2', busy), wait('a3', busy), wait('b1', quiet)];
    expect(order).toEqual([]);
    first();
    await Promise.all(all);
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('forgets a waiter that gives up, and gives it no turn', async () => {
    const queue = new FairQueue(1);
    const lane = {};
    const first = await queue.take(lane, IDLE);
    const stop = new AbortController();
    const given = queue.take(lane, stop.signal);
    const next = queue.take(lane, IDLE);
    stop.abort(new Error('no more'));
    await expect(given).rejects.toThrow('no more');
    await expect(queue.take(lane, stop.signal)).rejects.toThrow('no more');
    first();
    (await next)();
    (await queue.take(lane, IDLE))();
  });

  it('lets more in when its limit grows', async () => {
    const queue = new FairQueue(1);
    await queue.take({}, IDLE);
    const waiting = queue.take({}, IDLE);
    queue.limit = 2;
    await waiting;
  });
});

describe('calls of one tool at a time (E043)', () => {
  /** Each call records when it begins and ends: the maximum number that ran at the same time. */
  async function mostAtOnce(document: object, maxConcurrent?: number | Record<string, number>) {
    using folder = new ToolsFolder();
    // A lock that only one process can hold: a second process at the same time fails.
    const body = `mkdir ${folder.root}/lock || exit 1\nsleep 0.05\nrmdir ${folder.root}/lock\necho 1`;
    folder.add('tool', scriptOf(body, { input_schema: { type: 'object' }, output_schema: {}, ...document }));
    await using service = await openTools(folder.path, maxConcurrent === undefined ? {} : { maxConcurrent });
    await using executor = executorFor(service);
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, at) => executor.execute('tool', {}, { conversation: `c${at}` })),
    );
    return results.every(({ success }) => success);
  }

  it('are limited by the options, for all tools or by name', async () => {
    expect(await mostAtOnce({}, 1)).toBe(true);
    expect(await mostAtOnce({}, { tool: 1, other: 5 })).toBe(true);
  });

  it('are limited by the description of the tool, which options cannot override', async () => {
    expect(await mostAtOnce({ max_concurrent: 1 }, 3)).toBe(true);
  });

  it('never start if they are cancelled while they wait', async () => {
    using folder = new ToolsFolder();
    const body = `echo x >> ${folder.root}/count\nwhile [ ! -e ${folder.root}/go ]; do sleep 0.05; done\nwc -l < ${folder.root}/count`;
    folder.add('tool', scriptOf(body, { input_schema: { type: 'object' }, output_schema: {} }));
    await using service = await openTools(folder.path, { maxConcurrent: 1 });
    await using executor = executorFor(service);
    const stop = new AbortController();
    const first = executor.execute('tool', {}, { conversation: 'one' });
    const second = executor.execute('tool', {}, { conversation: 'two', signal: stop.signal });
    stop.abort();
    expect((await second).error?.code).toBe('cancelled');
    folder.add('go', '', 0o644, folder.root);
    expect((await first).structured).toBe(1);
    expect(service.list()[0]?.metrics.totalExecutions).toBe(1);
  });
});
