import type { Dispatcher } from '../src/contract/fleet.js';
import type { startPostgres } from '../src/journal/postgres/fixtures/postgres-cluster.js';
import { toolexec, toolexecFleet } from './built.js';
import type { Scale } from './contents.js';
import { type AloneQueue as Fleet, openBareTable, openBullMq, openGraphile } from './fleet-alone.js';
import { openJournalFloor } from './fleet-floor.js';
import { type Contender, interleave, median, type Timing } from './measure.js';
import type { Goal, Row } from './row.js';
import { logRow } from './server-log.js';

type Server = Awaited<ReturnType<typeof startPostgres>>;

const CALLERS = 16;
const CALLS_TOGETHER = 64;

/** At least 0.7 of the floor's calls in the same time. */
const THROUGHPUT: Goal = { of: 'ratio', atMost: 1.43 };
const LATENCY: Goal = { of: 'ratio', atMost: 1.5 };

/**
 * A call that a host accepts and a worker runs, both in this process, by what carries the hints; beside the least that a
 * fleet over the same journal does, and beside queues that do the same work without a journal.
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
    floor: await openJournalFloor(url, CALLERS),
    'a bare table': await openBareTable(url, CALLERS),
    'graphile-worker alone': await openGraphile(server.url('alone'), CALLERS),
    ...('skipped' in bullMq ? {} : { 'BullMQ alone': bullMq }),
  };
  try {
    const one = await timing(fleets, ({ call }) => ({ units: 1, run: call }), scale === 'quick' ? 3 : 300);
    const many = await timing(fleets, together, scale === 'quick' ? 1 : 5);
    const rows: Row[] = [];
    for (const name of ['a bare table', 'graphile-worker alone', 'BullMQ alone']) {
      if ('skipped' in bullMq && name === 'BullMQ alone') {
        rows.push({ what: 'a placed call', unit: 'ms', beside: { name, skipped: bullMq.skipped } });
        continue;
      }
      const ours = 'LISTEN and NOTIFY';
      rows.push(row(`a placed call, hints by ${ours}, p50`, one, ours, median, name));
      rows.push(row(`the same, ${CALLERS} callers at once`, many, ours, median, name));
    }
    for (const [name, fleet] of Object.entries(fleets)) {
      if (name === 'floor' || name === 'a bare table' || name.endsWith(' alone')) continue;
      const what = `a placed call, hints by ${name}`;
      rows.push({ ...row(`${what}, p50`, one, name, median), goal: LATENCY });
      rows.push({ ...row(`${what}, p95`, one, name, high), goal: LATENCY });
      rows.push({ ...row(`${what}, ${CALLERS} callers at once`, many, name, median), goal: THROUGHPUT });
      if (scale !== 'quick') {
        const floor = { name: 'SKIP LOCKED over the journal', run: () => (fleets.floor as Fleet).call() };
        rows.push(await logRow(server, `log of the server for ${what}`, () => fleet.call(), floor));
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
  return interleave(Object.fromEntries(contenders), {
    rounds,
    warmUps: rounds > 1 ? Math.ceil(rounds / 10) : 0,
  });
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
  const title = beside === 'floor' ? 'SKIP LOCKED over the journal' : beside;
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
