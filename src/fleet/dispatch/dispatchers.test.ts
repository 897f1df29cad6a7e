import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Dispatcher } from '../../contract/fleet.js';
import type { JsonObject } from '../../contract/json.js';
import { createExecutor } from '../../executor/create-executor.js';
import { folder } from '../../executor/fixtures/plan-fixture.js';
import { pause, probeTool } from '../../executor/fixtures/probe-tool.js';
import {
  type PostgresCluster,
  startPostgres,
  whyNoPostgres,
} from '../../journal/postgres/fixtures/postgres-cluster.js';
import { postgresJournal } from '../../journal/postgres/open-postgres-journal.js';
import { createWorker, type WorkerOptions } from '../create-worker.js';
import { unreliableDispatcher } from '../fixtures/unreliable-dispatcher.js';
import { graphileDispatcher } from './graphile.js';
import { pgBossDispatcher } from './pg-boss.js';

const missing = whyNoPostgres();
type Open = (url: string, queue: string) => Promise<Dispatcher & { close?(): Promise<void> }>;

const shared = unreliableDispatcher(Math.random);
/** The longest time that a hinted call may wait for its start, in milliseconds; a sweep comes after 1,000. */
const DISPATCHERS: readonly (readonly [name: string, open: Open, withinMs: number])[] = [
  ['pgBossDispatcher', (url, queue) => pgBossDispatcher({ url, queue }), 400],
  ['graphileDispatcher', (url, queue) => graphileDispatcher({ url, queue }), 400],
  ['LISTEN and NOTIFY of the journal', () => Promise.resolve({ hint() {}, listen: () => () => {} }), 400],
  ['a dispatcher that loses, doubles, delays and reorders hints', () => Promise.resolve(shared), 5_000],
];

describe.skipIf(missing !== undefined)(`dispatchers${missing === undefined ? '' : `: ${missing}`}`, () => {
  let cluster: PostgresCluster;

  beforeAll(async () => {
    cluster = await startPostgres({ connections: 80 });
  });

  afterAll(() => cluster?.end());

  describe.each(DISPATCHERS)('%s', (name, openDispatcher, withinMs) => {
    /** A host and workers, each with separate connections. */
    function newFleet() {
      const tenant = randomUUID();
      const root = folder();
      const log: string[] = [];
      const begun = new Map<string, number>();
      const tool = probeTool(
        'work',
        async ({ as, ms = 0 }) => {
          log.push(`${String(as)} begins`);
          begun.set(String(as), performance.now());
          await pause(Number(ms));
          log.push(`${String(as)} ends`);
          return `did ${String(as)}`;
        },
        { effects: ({ effects }) => (effects ?? []) as never },
      );
      const open = async () => {
        const journal = postgresJournal({ url: cluster.url(), tenant, pool: 3 });
        onTestFinished(() => journal.close());
        if (name.startsWith('LISTEN')) return { journal };
        const dispatcher = await openDispatcher(cluster.url(), tenant);
        onTestFinished(() => dispatcher.close?.());
        return { journal, dispatcher };
      };
      const startWorker = async (options: Partial<WorkerOptions> = {}) => {
        const opened = await open();
        const worker = createWorker({ root, tools: [tool], ...opened, ...options });
        onTestFinished(() => worker.close());
        return opened;
      };
      const startHost = async () => {
        const { journal, ...fleet } = await open();
        const host = createExecutor({
          ...{ journal, root, tools: [tool], policy: null, approver: null },
          fleet: { run: 'anywhere', ...fleet },
        });
        onTestFinished(() => host.close());
        return host;
      };
      return { startHost, startWorker, log, begun };
    }

    /** `npm test` runs only the dispatcher that is always available. */
    const variant = name.startsWith('LISTEN') ? {} : { tags: ['soak'] };

    const call = (as: string, args: JsonObject = {}) => ({ id: as, name: 'work', args: { as, ...args } });

    it('has each call run once, and conflicting calls in order, even if a worker is full', async () => {
      const { startHost, startWorker, log } = newFleet();
      await startWorker({ concurrency: 1 });
      await startWorker({ concurrency: 2 });
      const host = await startHost();
      const writes = { effects: [{ kind: 'write', path: 'f' }] };
      const names = Array.from({ length: 8 }, (_, index) => `k${index}`);
      const results = await host.run(
        names.map((each, index) => call(each, index % 4 === 0 ? { ...writes, ms: 10 } : { ms: 20 })),
        { conversation: 'c' },
      );
      expect(results.map(({ output }) => output)).toEqual(names.map((each) => `did ${each}`));
      expect(log).toHaveLength(2 * names.length);
      const order = log.filter((line) => /^k(?:0|4) /.test(line));
      expect(order).toEqual(['k0', 'k4'].flatMap((each) => [`${each} begins`, `${each} ends`]));
    });

    it('makes an idle worker start a call before its next poll', variant, async () => {
      const { startHost, startWorker, begun } = newFleet();
      await startWorker();
      const host = await startHost();
      await host.run([call('first')], { conversation: 'c' });
      const waits: number[] = [];
      for (const as of ['a', 'b', 'c', 'd', 'e']) {
        const since = performance.now();
        await host.run([call(as)], { conversation: 'c' });
        waits.push((begun.get(as) ?? 0) - since);
      }
      expect(waits.toSorted((a, b) => a - b)[2]).toBeLessThan(withinMs);
    });

    it('is not needed: without it, workers find the calls by polling', variant, async () => {
      const { startHost, startWorker } = newFleet();
      const { journal, dispatcher } = await startWorker();
      const host = await startHost();
      await host.run([call('first')], { conversation: 'c' });
      await (dispatcher ?? (journal.dispatcher as { close?(): Promise<void> }))?.close?.();
      const [result] = await host.run([call('second')], { conversation: 'c' });
      expect(result?.output).toBe('did second');
    });
  });

  it('name a wrong option', async () => {
    await expect(pgBossDispatcher({ url: '' })).rejects.toThrow('pgBossDispatcher.url');
    await expect(graphileDispatcher({ url: cluster.url(), queue: 'a b' })).rejects.toThrow('queue');
  });
});
