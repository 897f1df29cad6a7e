import { describe, expect, it } from 'vitest';
import type { Journal } from '../../contract/journal.js';
import { batchEntry, callEntry, successOf, WORKER } from '../../testing/journal-entries.js';
import { useCluster, whyNoPostgres } from './fixtures/postgres-cluster.js';
import { postgresJournal } from './open-postgres-journal.js';

const missing = whyNoPostgres();
const CALLS = 300;
const READS = 10;
const PAGE = { limit: 64, offer: { labels: [], roots: [] }, order: 'fair' } as const;

describe.skipIf(missing !== undefined)(`reads from Postgres ${missing ?? ''}`, () => {
  const cluster = useCluster();

  /** The server adds up its statistics when a connection ends. */
  async function inJournal(tenant: string, act: (journal: Journal) => Promise<void>): Promise<void> {
    const journal = postgresJournal({ url: cluster().url(), tenant, pool: 1 });
    await act(journal).finally(() => journal.close());
  }

  async function finishMany(journal: Journal): Promise<void> {
    for (let number = 0; number < CALLS; number++) {
      const entry = batchEntry(`b${number}`, [callEntry('x')], {
        conversation: `c${number}`,
        attach: true,
        placement: {},
      });
      await journal.accept(entry);
      await journal.claim(`b${number}/0`, WORKER, 1);
      await journal.finish(`b${number}/0`, successOf('x'), 2, WORKER);
    }
  }

  /** The rows that the server has read from tables and indexes. */
  function countRows(): number {
    const indexes = 'SELECT sum(idx_tup_read) AS rows FROM pg_stat_user_indexes';
    const tables = 'SELECT sum(seq_tup_read) FROM pg_stat_user_tables';
    return Number(cluster().sql(`SELECT sum(rows) FROM (${indexes} UNION ALL ${tables}) AS all_rows`));
  }

  it('bug: read all calls of a tenant that was new since the last ANALYZE', async () => {
    await inJournal('known', finishMany);
    cluster().sql('ANALYZE');
    const empty = countRows();
    await inJournal('new', finishMany);
    const before = countRows();
    expect(before - empty).toBeLessThan(CALLS * 20);
    await inJournal('new', async (journal) => {
      for (let number = 0; number < READS; number++) {
        expect(await journal.batch(`b${number}`)).toHaveLength(1);
        expect((await journal.call(`b${number}/0`))?.state).toBe('done');
        expect(await journal.queued?.(PAGE)).toEqual([]);
        expect(await journal.unfinished(`c${number}`)).toEqual([]);
        expect(await journal.waiting?.(`b${number}`)).toEqual([]);
        expect(await journal.find(`c${number}`, 'x')).toMatchObject({ key: `b${number}/0` });
        expect(await journal.notes(`b${number}/0`)).toEqual([]);
        expect(await journal.decisions(`b${number}`)).toEqual([]);
      }
    });
    const read = countRows() - before;
    expect(read).toBeGreaterThan(READS);
    expect(read).toBeLessThan((READS * CALLS) / 10);
  });

  it('bug: read each unfinished call once for each session that had ended', async () => {
    const old = 100;
    const sessionOf = (index: number) => ({ ...WORKER, id: `w${index}`, epoch: 1 });
    await inJournal('sessions', async (journal) => {
      for (let index = 0; index <= old; index++) await journal.renew?.(sessionOf(index), 1);
      for (let index = 0; index < old; index++) {
        await journal.accept(
          batchEntry(`b${index}`, [callEntry('x')], { conversation: `c${index}`, placement: {} }),
        );
        await journal.reap?.(sessionOf(index), 1, 2);
      }
      await journal.accept(batchEntry('held', [callEntry('x')], { worker: sessionOf(7) }));
    });
    const before = countRows();
    await inJournal('sessions', async (journal) => {
      for (let look = 0; look < READS; look++) {
        const sessions = await journal.sessions?.();
        expect(sessions?.map(({ worker }) => worker.id)).toEqual([`w${old}`, 'w7']);
      }
      await journal.prune?.({ before: 3 }, 4);
      expect((await journal.sessions?.())?.map(({ worker }) => worker.id)).toEqual([`w${old}`, 'w7']);
    });
    const read = countRows() - before;
    expect(read).toBeGreaterThan(READS);
    expect(read).toBeLessThan(READS * old * 30);
  });
});
