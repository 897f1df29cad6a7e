import { Client, Pool } from 'pg';
import type { Dispatcher } from '../src/contract/fleet.js';
import type { startPostgres } from '../src/journal/postgres/fixtures/postgres-cluster.js';
import { toolexec, toolexecFleet } from './built.js';
import type { Scale } from './contents.js';
import { type AloneQueue as Fleet, openBullMq, openGraphile } from './fleet-alone.js';
import { type Contender, interleave, median, type Timing } from './measure.js';
import type { Row } from './row.js';
import { logRow } from './server-log.js';

type Server = Awaited<ReturnType<typeof startPostgres>>;

const CALLERS = 16;
const CALLS_TOGETHER = 64;

/**
 * A call that a host accepts and a worker runs, both in this process, by what carries the hints; beside a table as queue:
 * insert, claim with SKIP LOCKED, result, each a transaction with a notice. And beside queues that do the same work without
 * a journal.
 */
export async function measureDispatch(server: Server, scale: Scale): Promise<readonly Row[]> {
  const url = server.url();
  const bullMq = await openBullMq(CALLERS);
  // In one database, the second graphile-worker that migrates shuts the first one down.
  server.sql('CREATE DATABASE alone');
  const fleets: Readonly<Record<string, Fleet>> = {
    'LISTEN and NOTIFY': await openFleet(url, 'notices', undefined),
    'graphile-worker': await openFleet(url, 'graphile', await toolexecFleet.graphileDispatcher({ url })),
    'pg-boss': await openFleet(url, 'boss', await toolexecFleet.pgBossDispatcher({ url })),
    floor: await openFloor(url),
    'graphile-worker alone': await openGraphile(server.url('alone'), CALLERS),
    ...('skipped' in bullMq ? {} : { 'BullMQ alone': bullMq }),
  };
  try {
    const one = await timing(fleets, ({ call }) => ({ units: 1, run: call }), scale === 'quick' ? 3 : 60);
    const many = await timing(fleets, together, scale === 'quick' ? 1 : 5);
    const rows: Row[] = [];
    for (const name of ['graphile-worker alone', 'BullMQ alone']) {
      if ('skipped' in bullMq && name === 'BullMQ alone') {
        rows.push({ what: 'a placed call', unit: 'ms', beside: { name, skipped: bullMq.skipped } });
        continue;
      }
      const ours = 'LISTEN and NOTIFY';
      rows.push(row(`a placed call, hints by ${ours}, p50`, one, ours, median, name));
      rows.push(row(`the same, ${CALLERS} callers at once`, many, ours, median, name));
    }
    for (const [name, fleet] of Object.entries(fleets)) {
      if (name === 'floor' || name.endsWith(' alone')) continue;
      rows.push(row(`a placed call, hints by ${name}, p50`, one, name, median));
      rows.push(row(`a placed call, hints by ${name}, p95`, one, name, high));
      rows.push(row(`a placed call, hints by ${name}, ${CALLERS} callers at once`, many, name, median));
      if (scale !== 'quick') {
        const floor = { name: 'SKIP LOCKED', run: () => (fleets.floor as Fleet).call() };
        const what = `log of the server for a placed call, hints by ${name}`;
        rows.push(await logRow(server, what, () => fleet.call(), floor));
      }
    }
    return rows;
  } finally {
    for (const { close } of Object.values(fleets)) await close();
  }
}

function timing(
  fleets: Readonly<Record<string, Fleet>>,
  toContender: (fleet: Fleet) => Contender,
  rounds: number,
): Promise<Record<string, Timing>> {
  const contenders = Object.entries(fleets).map(([name, fleet]) => [name, toContender(fleet)] as const);
  return interleave(Object.fromEntries(contenders), { rounds, warmUps: rounds > 1 ? 2 : 0 });
}

function together({ call }: Fleet): Contender {
  return {
    units: CALLS_TOGETHER,
    async run() {
      let left = CALLS_TOGETHER;
      const caller = async (): Promise<void> => {
        while (left-- > 0) await call();
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
    },
  };
}

function row(
  what: string,
  timings: Readonly<Record<string, Timing>>,
  name: string,
  of: (rounds: readonly number[]) => number,
  beside = 'floor',
): Row {
  const [ours, value] = [timings[name], timings[beside]].map((each) => of(each?.rounds ?? []) / 1_000) as [
    number,
    number,
  ];
  const title = beside === 'floor' ? 'SKIP LOCKED' : beside;
  return { what, unit: 'ms', ours, beside: { name: title, value, ratio: ours / value } };
}

function high(rounds: readonly number[]): number {
  return [...rounds].sort((a, b) => a - b)[Math.floor(rounds.length * 0.95)] ?? Number.NaN;
}

let calls = 0;

async function openFleet(
  url: string,
  tenant: string,
  dispatcher: (Dispatcher & { close(): Promise<void> }) | undefined,
): Promise<Fleet> {
  const tool = toolexec.defineTool({
    name: 'noop',
    description: 'Does nothing.',
    input: { type: 'object' },
    effects: () => [],
    execute: () => 'hello world',
  });
  const [hosts, workers] = [1, 2].map(() => toolexecFleet.postgresJournal({ url, tenant })) as [
    ReturnType<typeof toolexecFleet.postgresJournal>,
    ReturnType<typeof toolexecFleet.postgresJournal>,
  ];
  const carries = dispatcher === undefined ? {} : { dispatcher };
  const worker = toolexecFleet.createWorker({
    ...{ journal: workers, tools: [tool], policy: null, concurrency: CALLERS, ...carries },
  });
  const host = toolexec.createExecutor({
    ...{ journal: hosts, tools: [tool], policy: null },
    fleet: { run: 'anywhere', ...carries },
  });
  return {
    call: () =>
      host.run([{ id: `call_${++calls}`, name: 'noop', args: {} }], { conversation: `talk_${calls % 64}` }),
    async close() {
      await host.close();
      await worker.close();
      await dispatcher?.close();
      for (const journal of [hosts, workers]) await journal.close();
    },
  };
}

async function openFloor(url: string): Promise<Fleet> {
  const pool = new Pool({ connectionString: url, max: CALLERS });
  await pool.query('create table queue (id bigserial primary key, args text, worker text, result text)');
  const listener = new Client({ connectionString: url });
  await listener.connect();
  await listener.query('listen queued; listen done');
  const waiting = new Map<string, () => void>();
  /** Results whose notice came before the answer to the insert. */
  const done = new Set<string>();
  let free = CALLERS;
  const take = async (): Promise<void> => {
    if (free === 0) return;
    free--;
    for (;;) {
      const { rows } = await pool.query<{ id: string }>(
        `update queue set worker = 'w' where id = (
          select id from queue where worker is null order by id for update skip locked limit 1) returning id`,
      );
      const id = rows[0]?.id;
      if (id === undefined) break;
      await pool.query(
        "with done as (update queue set result = 'hello world' where id = $1 returning id) select pg_notify('done', id::text) from done",
        [id],
      );
    }
    free++;
  };
  listener.on('notification', ({ channel, payload = '' }) => {
    if (channel === 'queued') void take();
    else if (waiting.has(payload)) waiting.get(payload)?.();
    else done.add(payload);
  });
  return {
    async call() {
      const { rows } = await pool.query<{ id: string }>(
        "with added as (insert into queue (args) values ('{}') returning id) select id, pg_notify('queued', id::text) from added",
      );
      const id = rows[0]?.id ?? '';
      if (done.delete(id)) return;
      await new Promise<void>((resolve) => void waiting.set(id, resolve));
      waiting.delete(id);
    },
    async close() {
      await listener.end();
      await pool.end();
    },
  };
}
