import { Pool } from 'pg';
import { startPostgres, whyNoPostgres } from '../src/journal/postgres/fixtures/postgres-cluster.js';
import { toolexec, toolexecFleet } from './built.js';
import type { Scale } from './contents.js';
import { measureCancel } from './fleet-cancel.js';
import { measureDispatch } from './fleet-dispatch.js';
import { measureKilled } from './fleet-killed.js';
import { type Contender, interleave } from './measure.js';
import { NO_OP_ARGS } from './no-op-input.js';
import { type Row, toRow } from './row.js';
import { logRow } from './server-log.js';

const CALLS_A_ROUND = 160;

/**
 * A call whose journal is in Postgres, beside three bare transactions: one that accepts the call, one that claims it, one that
 * keeps the result. On a server that writes its log to the disk for each commit.
 */
export async function measureFleet(scale: Scale): Promise<readonly Row[]> {
  const skipped = whyNoPostgres();
  if (skipped !== undefined) return [{ what: 'a call', unit: 'µs', beside: { name: 'bare', skipped } }];
  // Three fleets with two journals each, and their queues.
  const server = await startPostgres({ fsync: true, connections: 200 });
  try {
    const journal = toolexecFleet.postgresJournal({ url: server.url() });
    await using executor = toolexec.createExecutor({ tools: [toolOnResource()], policy: null, journal });
    const bare = await openBare(server.url());
    const rows: Row[] = [];
    for (const callers of [1, 16]) {
      const timing = await interleave(
        {
          executor: byCallers(callers, () =>
            executor.run(nextCall(), { conversation: `talk_${++runs % 64}` }),
          ),
          bare: byCallers(callers, () => bare.record()),
        },
        { rounds: scale === 'quick' ? 1 : 15, warmUps: scale === 'quick' ? 0 : 3 },
      );
      const who = callers === 1 ? 'one caller' : `${callers} callers at once`;
      const beside = ['three bare transactions', timing.bare] as const;
      rows.push(toRow(`a call, ${who}`, timing.executor, beside, { computing: false }));
    }
    rows.push(
      await logRow(server, 'log of the server for a call', () => executor.run(nextCall()), {
        name: 'three bare transactions',
        run: () => bare.record(),
      }),
    );
    await bare.end();
    await journal.close();
    rows.push(...(await measureCancel(server.url(), scale)), ...(await measureKilled(server.url(), scale)));
    return [...rows, ...(await measureDispatch(server, scale))];
  } finally {
    server.end();
  }
}

async function openBare(url: string) {
  const pool = new Pool({ connectionString: url, max: 16 });
  await pool.query('create table bare (id bigserial primary key, args text, worker text, result text)');
  const args = JSON.stringify(NO_OP_ARGS);
  return {
    async record(): Promise<void> {
      const { rows } = await pool.query<{ id: string }>({
        name: 'accept',
        text: 'insert into bare (args) values ($1) returning id',
        values: [args],
      });
      const id = rows[0]?.id;
      await pool.query({
        name: 'claim',
        text: 'update bare set worker = $2 where id = $1 and worker is null',
        values: [id, 'worker'],
      });
      await pool.query({
        name: 'settle',
        text: 'update bare set result = $2 where id = $1 and result is null',
        values: [id, 'hello world'],
      });
    },
    end: () => pool.end(),
  };
}

function toolOnResource() {
  return toolexec.defineTool({
    name: 'noop',
    description: 'Does nothing.',
    input: { type: 'object' },
    effects: ({ count }: { count?: number }) => [
      { kind: 'call', server: 's', tool: 'noop', access: 'write', resource: String(count) },
    ],
    execute: () => 'hello world',
  });
}

let runs = 100_000;

function nextCall() {
  return [{ id: `call_${++runs}`, name: 'noop', args: { ...NO_OP_ARGS, count: runs } }];
}

function byCallers(callers: number, call: () => Promise<unknown>): Contender {
  return {
    units: CALLS_A_ROUND,
    async run() {
      let left = CALLS_A_ROUND;
      const caller = async (): Promise<void> => {
        while (left-- > 0) await call();
      };
      await Promise.all(Array.from({ length: callers }, caller));
    },
  };
}
