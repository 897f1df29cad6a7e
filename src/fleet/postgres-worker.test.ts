import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Journal } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import { cancelled, stoppedBefore } from '../executor/answer/stopped.js';
import { createExecutor } from '../executor/create-executor.js';
import { folder } from '../executor/fixtures/plan-fixture.js';
import { pause, probeTool } from '../executor/fixtures/probe-tool.js';
import {
  type PostgresCluster,
  startPostgres,
  whyNoPostgres,
} from '../journal/postgres/fixtures/postgres-cluster.js';
import { postgresJournal } from '../journal/postgres/open-postgres-journal.js';
import { createWorker } from './create-worker.js';

const missing = whyNoPostgres();
const IN_C = { conversation: 'c' };

describe.skipIf(missing !== undefined)(
  `workers over Postgres${missing === undefined ? '' : `: ${missing}`}`,
  () => {
    let cluster: PostgresCluster;

    beforeAll(async () => {
      cluster = await startPostgres();
    });

    afterAll(() => cluster?.end());

    it('run each call once, in order where calls conflict, and stop one that is cancelled', async () => {
      const root = folder();
      const log: string[] = [];
      const effects = (args: JsonObject) => (args.effects ?? []) as never;
      const work = probeTool(
        'work',
        async ({ name, ms = 0 }, { signal }) => {
          log.push(`${String(name)} begins`);
          for (let waited = 0; waited < Number(ms) && !signal.aborted; waited += 5) await pause(5);
          log.push(`${String(name)} ends`);
          return `did ${String(name)}`;
        },
        { effects },
      );
      const open = () => {
        const journal = postgresJournal({ url: cluster.url(), tenant: 'fleet', pool: 3 });
        onTestFinished(() => journal.close());
        return journal;
      };
      const common = { root, tools: [work] };
      const workers = [1, 2].map(() => createWorker({ ...common, journal: open(), concurrency: 2 }));
      onTestFinished(() => Promise.all(workers.map((worker) => worker.close())).then(() => {}));
      const host = createExecutor({
        ...{ ...common, journal: open(), policy: null, approver: null, fleet: { run: 'anywhere' } },
      });
      onTestFinished(() => host.close());
      const call = (name: string, args: JsonObject = {}) => ({
        id: name,
        name: 'work',
        args: { name, ...args },
      });
      const same = { effects: [{ kind: 'write', path: 'f' }] };
      const calls = [call('a', { ...same, ms: 40 }), call('b', same), call('c'), call('d')];
      const results = await host.run(calls, IN_C);
      expect(results.map(({ output }) => output)).toEqual(['did a', 'did b', 'did c', 'did d']);
      expect(log.toSorted()).toHaveLength(8);
      expect(log.indexOf('b begins')).toBeGreaterThan(log.indexOf('a ends'));
      const running = host.start([call('long', { ms: 60_000 })], IN_C);
      await expect.poll(() => log).toContain('long begins');
      running.cancel();
      expect((await running.results)[0]?.error).toMatchObject({
        code: 'cancelled',
        details: { executed: 'maybe' },
      });
      expect(log.filter((line) => line === 'long begins')).toHaveLength(1);
    });

    it('send the key of each answered call', async () => {
      const tool = probeTool('work', () => 'done', { effects: () => [] });
      const [hosts, workers, listening] = [1, 2, 3].map(() => {
        const journal = postgresJournal({ url: cluster.url(), tenant: 'answers', pool: 2 });
        onTestFinished(() => journal.close());
        return journal;
      }) as [Journal, Journal, Journal];
      const heard: string[] = [];
      listening.signals?.listen('answer', (key) => void heard.push(key));
      const common = { root: folder(), tools: [tool] };
      const worker = createWorker({ ...common, journal: workers });
      onTestFinished(() => worker.close());
      const host = createExecutor({
        ...{ ...common, journal: hosts, policy: null, approver: null, fleet: { run: 'anywhere' } },
      });
      onTestFinished(() => host.close());
      let runs = 0;
      // The first signals may be sent before the connection listens.
      await expect
        .poll(
          async () => {
            await host.run([{ id: `call ${++runs}`, name: 'work', args: {} }], IN_C);
            return heard.length;
          },
          { timeout: 20_000 },
        )
        .toBeGreaterThan(0);
      const recorded = await listening.call(heard[0] as never);
      expect(recorded?.result?.output).toBe('done');
    });

    describe('that run a cancelled call', () => {
      /** The times from the request to the abort of the tool, in milliseconds. */
      async function cancelTimes(
        count: number,
        worksOn: (journal: Journal) => Journal,
        before: (index: number) => Promise<void> = async () => {},
      ): Promise<number[]> {
        const stopped: number[] = [];
        let begun = 0;
        const wait = probeTool('wait', async (_, { signal }) => {
          begun++;
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          stopped.push(performance.now());
          return '';
        });
        const tenant = `cancel_${randomUUID()}`;
        const [ours, theirs] = [1, 2].map(() => {
          const journal = postgresJournal({ url: cluster.url(), tenant, pool: 2 });
          onTestFinished(() => journal.close());
          return journal;
        }) as [Journal, Journal];
        const common = { root: folder(), tools: [wait], policy: null };
        const worker = createWorker({ ...common, journal: worksOn(theirs) });
        onTestFinished(() => worker.close());
        const host = createExecutor({ ...common, journal: ours, fleet: { run: 'anywhere' } });
        onTestFinished(() => host.close());
        const times: number[] = [];
        for (let index = 0; index < count; index++) {
          const running = host.start([{ id: `w${index}`, name: 'wait', args: {} }], IN_C);
          await expect.poll(() => begun, { interval: 5 }).toBe(index + 1);
          const [{ key } = { key: '' }] = await ours.unfinished();
          await before(index);
          const answer = stoppedBefore({ id: `w${index}`, name: 'wait' }, cancelled('not wanted'));
          const asked = performance.now();
          expect(await ours.cancel?.(key, answer, Date.now())).toBe('asked');
          expect((await running.results)[0]?.error?.code).toBe('cancelled');
          times.push((stopped.at(-1) ?? Number.POSITIVE_INFINITY) - asked);
        }
        return times;
      }

      it('are signalled before their next poll', async () => {
        const times = await cancelTimes(4, (journal) => journal);
        expect(mostOf(times)).toBeLessThan(SOONER_MS);
      });

      it('find it by polling if the signal is lost', async () => {
        const lost = { send: () => {}, listen: () => () => {} };
        const deaf = (journal: Journal) =>
          new Proxy(journal, {
            get(target, name) {
              const value = name === 'signals' ? lost : Reflect.get(target, name, target);
              return typeof value === 'function' ? value.bind(target) : value;
            },
          });
        const [time = 0] = await cancelTimes(1, deaf);
        expect(time).toBeLessThan(5_000);
      });

      it('are signalled again after the connection of the signals broke', async () => {
        const ofListeners = "FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";
        const times = await cancelTimes(
          5,
          (journal) => journal,
          async (index) => {
            if (index !== 1) return;
            cluster.sql(`SELECT pg_terminate_backend(pid) ${ofListeners}`);
            await expect.poll(() => cluster.sql(`SELECT count(*) > 0 ${ofListeners}`).trim()).toBe('t');
          },
        );
        expect(mostOf(times.slice(1))).toBeLessThan(SOONER_MS);
      });
    });
  },
);

/** A worker polls once a second. bench/fleet-cancel.ts measures the time. */
const SOONER_MS = 600;

/** The second largest: on a busy machine one of them may be delayed. */
function mostOf(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b).at(-2) ?? Number.POSITIVE_INFINITY;
}
