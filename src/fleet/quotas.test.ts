import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ToolResult } from '../contract/call.js';
import type { Executor } from '../contract/executor.js';
import { isToolError } from '../errors/tool-error.js';
import { createExecutor } from '../executor/create-executor.js';
import type { FleetOptions } from '../executor/executor-options.js';
import { folder } from '../executor/fixtures/plan-fixture.js';
import { pause, probeTool } from '../executor/fixtures/probe-tool.js';
import { createWorker, type WorkerOptions } from './create-worker.js';

/** Hosts of several tenants and workers over one journal. The tools report when they run. */
function newFleet() {
  const journal = join(folder(), 'journal.db');
  const begun: string[] = [];
  const running = new Map<string, number>();
  const most = new Map<string, number>();
  const tool = (name: string) =>
    probeTool(name, async ({ as, ms = 0 }) => {
      begun.push(String(as));
      for (const key of ['all', name]) {
        running.set(key, (running.get(key) ?? 0) + 1);
        most.set(key, Math.max(most.get(key) ?? 0, running.get(key) ?? 0));
      }
      await pause(Number(ms));
      for (const key of ['all', name]) running.set(key, (running.get(key) ?? 0) - 1);
      return 'done';
    });
  const common = { journal, tools: [tool('work'), tool('deploy')], policy: null };
  const hostOf = (fleet: FleetOptions = {}): Executor => {
    const limits = { maxToolCallsPerBatch: 200 };
    const host = createExecutor({ ...common, limits, approver: null, fleet: { run: 'anywhere', ...fleet } });
    onTestFinished(() => host.close());
    return host;
  };
  const startWorker = (options: Partial<WorkerOptions> = {}): void => {
    const worker = createWorker({ ...common, ...options });
    onTestFinished(() => worker.close());
  };
  return { hostOf, startWorker, begun, most: (key: string) => most.get(key) };
}

const calls = (as: string, count: number, ms = 0, name = 'work') =>
  Array.from({ length: count }, (_, index) => ({
    id: `${as}${index}`,
    name,
    args: { as: `${as}${index}`, ms },
  }));
const outcomes = (results: readonly ToolResult[]) =>
  results.map(({ output, error }) => error?.code ?? output);

describe('tenants', () => {
  it('share the workers: a few calls of one do not wait behind a hundred of another', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const { hostOf, startWorker, begun } = newFleet();
    const large = hostOf({ tenant: 'large' }).run(calls('large', 100));
    await pause(100);
    const small = hostOf({ tenant: 'small' }).run(calls('small', 5));
    await pause(100);
    startWorker({ concurrency: 2 });
    await small;
    const last = Math.max(...calls('small', 5).map(({ id }) => begun.indexOf(id)));
    expect(last).toBeLessThan(16);
    expect(outcomes(await large)).toEqual(calls('large', 100).map(() => 'done'));
  });

  it('have calls of a higher priority started first', async () => {
    const { hostOf, startWorker, begun } = newFleet();
    const low = hostOf().run(calls('low', 3));
    await pause(50);
    const high = hostOf({ priority: 5 }).run(calls('high', 2));
    const middle = hostOf({ priority: 1 }).run(calls('middle', 1));
    await pause(100);
    startWorker({ concurrency: 1 });
    await Promise.all([low, high, middle]);
    expect(begun).toEqual(['high0', 'high1', 'middle0', 'low0', 'low1', 'low2']);
  });

  it('get quota_exceeded for a batch above their open calls, whichever host sends it, and can send it again', async () => {
    const { hostOf, startWorker, begun } = newFleet();
    const quotas = { open: 2 };
    const [one, other] = [hostOf({ tenant: 'a', quotas }), hostOf({ tenant: 'a', quotas })];
    const first = one.run(calls('first', 2));
    await pause(100);
    const again = { conversation: 'c' };
    for (const host of [one, other]) {
      const [refused] = await host.run(calls('more', 1), again);
      expect(refused?.error).toMatchObject({
        code: 'quota_exceeded',
        details: { executed: 'no', retry_after_ms: 1_000, open: 2, quota: 2 },
      });
    }
    const unnamed = await one.run(calls('unnamed', 1));
    expect(outcomes(unnamed)).toEqual(['quota_exceeded']);
    const elsewhere = hostOf({ tenant: 'b', quotas }).run(calls('elsewhere', 2));
    startWorker();
    expect(outcomes(await first)).toEqual(['done', 'done']);
    expect(outcomes(await elsewhere)).toEqual(['done', 'done']);
    expect(outcomes(await other.run(calls('more', 1), again))).toEqual(['done']);
    expect(outcomes(await other.run(calls('many', 3)))).toEqual(calls('many', 3).map(() => 'quota_exceeded'));
    expect(begun.filter((name) => /^(?:more|many|unnamed)/.test(name))).toEqual(['more0']);
  });

  it('have calls above a quota of running calls held back, not refused', async () => {
    const { hostOf, startWorker, most } = newFleet();
    startWorker({ concurrency: 4 });
    startWorker({ concurrency: 4, quotas: { tools: { deploy: 1 } } });
    const host = hostOf({ tenant: 'a', quotas: { running: 2 } });
    const free = hostOf({ tenant: 'b' });
    const deploys = hostOf({ tenant: 'c', quotas: { tools: { deploy: 1 } } });
    const all = await Promise.all([host.run(calls('a', 6, 30)), deploys.run(calls('c', 4, 30, 'deploy'))]);
    expect(outcomes(all.flat())).toEqual(Array.from({ length: 10 }, () => 'done'));
    expect(most('deploy')).toBe(1);
    expect(most('work')).toBe(2);
    await free.run(calls('b', 6, 60));
    expect(most('work')).toBeGreaterThan(2);
  });

  it('have calls above a quota of a label held back, and other calls not', async () => {
    const { hostOf, startWorker, most } = newFleet();
    startWorker({ concurrency: 4, labels: ['gpu'] });
    startWorker({ concurrency: 4, labels: ['gpu'] });
    const gpus = hostOf({ labels: ['gpu'], quotas: { labels: { gpu: 1 } } });
    expect(outcomes(await gpus.run(calls('a', 4, 30)))).toEqual(Array.from({ length: 4 }, () => 'done'));
    expect(most('work')).toBe(1);
    await hostOf({ quotas: { labels: { gpu: 1 } } }).run(calls('b', 6, 60));
    expect(most('work')).toBeGreaterThan(1);
  });

  it.each([
    ['fleet.quotas', 3],
    ['fleet.quotas.open', { open: 0 }],
    ['fleet.quotas.running', { running: 'all' }],
    ['fleet.quotas.tools', { tools: { work: 0 } }],
    ['fleet.quotas.labels', { labels: { gpu: 0 } }],
    ['fleet.quotas.labels', { labels: { 'a b': 1 } }],
    ['fleet.quotas.opne', { opne: 1 }],
  ])('name a wrong %s', (name, quotas) => {
    const { hostOf } = newFleet();
    expect(() => hostOf({ quotas } as FleetOptions)).toThrow(name);
  });

  it('of a worker have no quota of open calls, because it accepts none', () => {
    const { startWorker } = newFleet();
    let message = '';
    try {
      startWorker({ quotas: { open: 1 } } as Partial<WorkerOptions>);
    } catch (error) {
      if (isToolError(error, 'config_invalid')) message = error.message;
    }
    expect(message).toContain('options.quotas.open');
  });
});
