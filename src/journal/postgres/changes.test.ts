import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Changes } from '../../contract/journal.js';
import { batchEntry, callEntry, successOf, WORKER } from '../../testing/journal-entries.js';
import { useCluster, whyNoPostgres } from './fixtures/postgres-cluster.js';
import { postgresJournal } from './open-postgres-journal.js';

const missing = whyNoPostgres();

describe.skipIf(missing !== undefined)(`changes in Postgres ${missing ?? ''}`, () => {
  const cluster = useCluster();
  let tenants = 0;

  function open(tenant = `changes_${++tenants}`) {
    const journal = postgresJournal({ url: cluster().url(), tenant, pool: 2 });
    onTestFinished(async () => journal.close());
    let mark: string | undefined;
    const look = async (): Promise<Changes> => {
      const changes = await journal.changes?.(mark);
      if (changes === undefined) throw new Error('a journal in Postgres knows its changes');
      mark = changes.mark;
      return changes;
    };
    const keys = async (): Promise<unknown> => {
      const { isWhole, calls } = await look();
      return isWhole ? 'whole' : calls.map(({ key, state }) => `${key} ${state}`);
    };
    return { journal, tenant, look, keys };
  }

  async function connect(): Promise<Client> {
    const client = new Client(cluster().url());
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  }

  it('bug: a change with a lower number was missed if it was committed later', async () => {
    const { journal, tenant, look, keys } = open();
    await journal.accept(batchEntry('b', [callEntry('x'), callEntry('y')]));
    while ((await look()).isWhole);
    const late = await connect();
    await late.query('BEGIN');
    await late.query("SELECT toolexec.claim_1($1, 'b', 0, '{}', 'late', NULL, 't', 1)", [tenant]);
    await journal.claim('b/1', WORKER, 2);
    expect(await keys()).toContain('b/1 running');
    await journal.finish('b/1', successOf('y'), 3, WORKER);
    expect(await keys()).toContain('b/1 done');
    const numbers = cluster().sql(
      `SELECT max(number) FROM toolexec.changes WHERE tenant = '${tenant}' AND position = 1`,
    );
    await late.query('COMMIT');
    const [lower] = cluster()
      .sql(`SELECT max(number) FROM toolexec.changes WHERE tenant = '${tenant}' AND position = 0`)
      .split('\n');
    expect(Number(lower)).toBeLessThan(Number(numbers));
    expect(await keys()).toContain('b/0 running');
    expect(await keys()).toEqual([]);
  });

  it('are unknown after a crash of the server, or if there were too many: then everything is read', async () => {
    const { journal, look, keys } = open();
    await journal.accept(batchEntry('b', [callEntry('x')]));
    while ((await look()).isWhole);
    // Like the server with an unlogged table.
    cluster().sql('TRUNCATE toolexec.changes');
    expect(await keys()).toBe('whole');
    while ((await look()).isWhole);
    expect(await keys()).toEqual([]);
    cluster().sql(
      "SELECT setval('toolexec.changes_number_seq', nextval('toolexec.changes_number_seq') + 70000)",
    );
    expect(await keys()).toBe('whole');
    await journal.claim('b/0', WORKER, 2);
    expect(await keys()).toEqual(['b/0 running']);
  });

  it('of the oldest calls are removed, and no writer waits for a transaction that has locked one', async () => {
    const { journal, tenant } = open();
    await journal.accept(batchEntry('b', [callEntry('x'), callEntry('y')]));
    const holder = await connect();
    await holder.query('BEGIN');
    await holder.query('SELECT * FROM toolexec.changes WHERE tenant = $1 AND position = 0 FOR UPDATE', [
      tenant,
    ]);
    // The next change removes old ones.
    cluster().sql("SELECT setval('toolexec.changes_number_seq', 256 * 1000 - 1)");
    await journal.claim('b/0', WORKER, 2);
    const left = cluster().sql(
      `SELECT position FROM toolexec.changes WHERE tenant = '${tenant}' ORDER BY number`,
    );
    expect(left.split('\n')).toEqual(['0', '0']);
    await holder.query('ROLLBACK');
  });
});
