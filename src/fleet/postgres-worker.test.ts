import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../contract/json.js';
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
    }, 60_000);

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
    }, 30_000);
  },
);
