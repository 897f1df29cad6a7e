import type { startPostgres } from '../src/journal/postgres/fixtures/postgres-cluster.js';
import type { Row } from './row.js';

type Server = Awaited<ReturnType<typeof startPostgres>>;

const CALLS = 100;

/** Bytes that the server adds to its log for each call, and its commits; beside other work. */
export async function logRow(
  server: Server,
  what: string,
  run: () => Promise<unknown>,
  beside: { readonly name: string; readonly run: () => Promise<unknown> },
): Promise<Row> {
  const ours = await countLog(server, run);
  const theirs = await countLog(server, beside.run);
  return {
    what: `${what}, ${ours.commits.toFixed(1)} commits`,
    unit: 'bytes',
    ours: ours.bytes,
    beside: { name: beside.name, value: theirs.bytes, ratio: ours.bytes / theirs.bytes },
  };
}

async function countLog(server: Server, run: () => Promise<unknown>) {
  // Full images of pages go to the log once after each checkpoint.
  server.sql('checkpoint');
  for (let call = 0; call < CALLS; call++) await run();
  const before = await look(server);
  for (let call = 0; call < CALLS; call++) await run();
  const after = await look(server);
  return { bytes: (after.bytes - before.bytes) / CALLS, commits: (after.commits - before.commits) / CALLS };
}

async function look(server: Server): Promise<{ readonly bytes: number; readonly commits: number }> {
  // The server adds up its statistics when a connection has been idle for a second.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const [bytes, commits] = server
    .sql(
      "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') || '|' || xact_commit from pg_stat_database where datname = 'postgres'",
    )
    .split('|');
  return { bytes: Number(bytes), commits: Number(commits) };
}
