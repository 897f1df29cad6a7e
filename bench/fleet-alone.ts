import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { Logger, run as runGraphile } from 'graphile-worker';
import { Redis } from 'ioredis';
import { Client, Pool } from 'pg';
import { freePort } from '../src/journal/postgres/fixtures/postgres-cluster.js';

/** A queue that runs the same work without a journal. */
export interface AloneQueue {
  /** Adds a job, and waits until its result is known here. */
  call(): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * BullMQ over a Redis server that writes each command to the disk before it answers, as a journal does.
 * @returns the reason if there is no such server here
 */
export async function openBullMq(concurrency: number): Promise<AloneQueue | { readonly skipped: string }> {
  const server = await startRedis();
  if ('skipped' in server) return server;
  const connection = { host: '127.0.0.1', port: server.port, maxRetriesPerRequest: null };
  const queue = new Queue('noop', { connection });
  // Each job that is waited for listens.
  queue.setMaxListeners(0);
  const events = new QueueEvents('noop', { connection });
  const worker = new Worker('noop', async () => 'hello world', { connection, concurrency });
  await Promise.all([queue.waitUntilReady(), events.waitUntilReady(), worker.waitUntilReady()]);
  return {
    async call() {
      // A job that is removed at once may be gone before it is waited for.
      const job = await queue.add('noop', {}, { removeOnComplete: 1_000 });
      return job.waitUntilFinished(events);
    },
    async close() {
      await worker.close();
      await events.close();
      await queue.close();
      await server.end();
    },
  };
}

/** graphile-worker, whose task reports its result with a notice. */
export async function openGraphile(url: string, concurrency: number): Promise<AloneQueue> {
  const pool = new Pool({ connectionString: url, max: concurrency });
  const listener = new Client({ connectionString: url });
  await listener.connect();
  await listener.query('listen alone_done');
  const waiting = new Map<string, () => void>();
  listener.on('notification', ({ payload = '' }) => {
    waiting.get(payload)?.();
    waiting.delete(payload);
  });
  const runner = await runGraphile({
    ...{ connectionString: url, concurrency, noHandleSignals: true, pollInterval: 1_000, schema: 'alone' },
    logger: new Logger(() => () => {}),
    taskList: {
      noop: async (payload, helpers) => {
        const { id } = payload as { readonly id: string };
        await helpers.query("select pg_notify('alone_done', $1)", [id]);
      },
    },
  });
  let jobs = 0;
  return {
    async call() {
      const id = String(++jobs);
      const done = new Promise<void>((resolve) => void waiting.set(id, resolve));
      await pool.query("select alone.add_job('noop', json_build_object('id', $1::text))", [id]);
      await done;
    },
    async close() {
      await runner.stop();
      await listener.end();
      await pool.end();
    },
  };
}

/** A table as queue: insert, claim with SKIP LOCKED, result, each a transaction with a notice. */
export async function openBareTable(url: string, concurrency: number): Promise<AloneQueue> {
  const pool = new Pool({ connectionString: url, max: concurrency });
  await pool.query('create table queue (id bigserial primary key, args text, worker text, result text)');
  const listener = new Client({ connectionString: url });
  await listener.connect();
  await listener.query('listen queued; listen done');
  const waiting = new Map<string, () => void>();
  /** Results whose notice came before the answer to the insert. */
  const done = new Set<string>();
  let free = concurrency;
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

async function startRedis(): Promise<
  { readonly port: number; end(): Promise<void> } | { readonly skipped: string }
> {
  const directory = mkdtempSync(join(tmpdir(), 'toolexec-redis-'));
  const port = await freePort();
  const settings = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', directory, '--save', ''];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  const program = spawn('redis-server', [...settings, ...durable], { stdio: 'ignore' });
  const ended = new Promise<string>((resolve) => {
    program.once('error', (error) => resolve(error.message));
    program.once('exit', (code) => resolve(`redis-server ended with ${code}`));
  });
  const end = async (): Promise<void> => {
    program.kill();
    await ended;
    rmSync(directory, { recursive: true, force: true });
  };
  const client = new Redis({ host: '127.0.0.1', port, retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => {});
  const failure = await Promise.race([ended, client.ping().then(() => undefined)]);
  client.disconnect();
  if (failure === undefined) return { port, end };
  rmSync(directory, { recursive: true, force: true });
  return { skipped: `redis-server does not run here: ${failure}` };
}
