import { randomUUID } from 'node:crypto';
import { Client, Pool } from 'pg';
import { callKey } from '../src/journal/records/call-key.js';
import { toolexecFleet } from './built.js';
import type { AloneQueue } from './fleet-alone.js';

const OUTPUT = 'hello world';

/**
 * The least that a fleet over our journal does for a call: the journal accepts it, a worker claims the oldest one with SKIP
 * LOCKED, the journal keeps the result, and the host reads it. Notices say when. There is no executor, order, quota or lease.
 */
export async function openJournalFloor(url: string, concurrency: number): Promise<AloneQueue> {
  const tenant = 'floor';
  const [hosts, workers] = [1, 2].map(() => toolexecFleet.postgresJournal({ url, tenant })) as [
    ReturnType<typeof toolexecFleet.postgresJournal>,
    ReturnType<typeof toolexecFleet.postgresJournal>,
  ];
  // Creates the tables.
  await hosts.unfinished();
  const unclaimed = `tenant = '${tenant}' and worker_id is null and finished_at is null`;
  const worker = { id: 'floor', pid: process.pid, startedAt: Date.now() };
  const pool = new Pool({ connectionString: url, max: concurrency });
  await pool.query(`create index unclaimed on toolexec.calls (number) where ${unclaimed}`);
  const bell = await openBell(url, ['floor_queued', 'floor_done']);
  const claimOldest = async (): Promise<string | undefined> => {
    // Not prepared: a plan that is made while the table is empty reads all of it.
    const { rows } = await pool.query<{ readonly batch_id: string; readonly position: number }>({
      text: `update toolexec.calls set worker = $1, worker_id = $2, started_at = $3
        where (tenant, batch_id, position) = (
          select tenant, batch_id, position from toolexec.calls where ${unclaimed}
          order by number for update skip locked limit 1)
        returning batch_id, position`,
      values: [JSON.stringify(worker), worker.id, Date.now()],
    });
    return rows[0] && callKey(rows[0].batch_id, rows[0].position);
  };
  let free = concurrency;
  const take = async (): Promise<void> => {
    if (free === 0) return;
    free--;
    for (let key = await claimOldest(); key !== undefined; key = await claimOldest()) {
      const result = { toolName: 'noop', callId: key, success: true, output: OUTPUT, metadata: {} };
      await workers.finish(key, result as never, Date.now(), worker);
      await pool.query("select pg_notify('floor_done', $1)", [key]);
    }
    free++;
  };
  bell.on('floor_queued', () => void take());
  let calls = 0;
  return {
    async call() {
      const id = randomUUID();
      const key = callKey(id, 0);
      const done = new Promise<void>((resolve) => bell.once('floor_done', key, resolve));
      const call = { callId: `call_${++calls}`, toolName: 'noop', args: {}, effects: [], reason: '' };
      await hosts.accept({
        ...{ id, conversation: `talk_${calls % 64}`, attach: true, at: Date.now(), placement: {} },
        calls: [{ ...call, disposition: 'execute_now' }],
      });
      await pool.query("select pg_notify('floor_queued', $1)", [key]);
      await done;
      const record = await hosts.call(key);
      if (record?.result?.output !== OUTPUT) throw new Error('the floor lost a result');
      return record.result;
    },
    async close() {
      await bell.close();
      await pool.end();
      for (const journal of [hosts, workers]) await journal.close();
    },
  };
}

async function openBell(url: string, channels: readonly string[]) {
  const listener = new Client({ connectionString: url });
  await listener.connect();
  await listener.query(channels.map((channel) => `listen ${channel}`).join(';'));
  const always = new Map<string, () => void>();
  const once = new Map<string, () => void>();
  listener.on('notification', ({ channel, payload = '' }) => {
    always.get(channel)?.();
    const place = `${channel} ${payload}`;
    once.get(place)?.();
    once.delete(place);
  });
  return {
    on: (channel: string, act: () => void) => void always.set(channel, act),
    once: (channel: string, payload: string, act: () => void) => void once.set(`${channel} ${payload}`, act),
    close: () => listener.end(),
  };
}
