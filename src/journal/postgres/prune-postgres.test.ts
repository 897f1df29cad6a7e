import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Journal } from '../../contract/journal.js';
import type { Pruned, PruneLimits } from '../../contract/pruning.js';
import { batchEntry, callEntry, pictureOf, successOf, WORKER } from '../../testing/journal-entries.js';
import { DANGLING } from './fixtures/dangling.js';
import { useCluster, whyNoPostgres } from './fixtures/postgres-cluster.js';
import { postgresJournal } from './open-postgres-journal.js';

const missing = whyNoPostgres();

describe.skipIf(missing !== undefined)(
  `pruning a journal in Postgres${missing === undefined ? '' : `: ${missing}`}`,
  () => {
    const cluster = useCluster();
    let count = 0;

    const newTenant = (): string => `tenant-${count++}`;

    function open(tenant: string): Journal {
      const journal = postgresJournal({ url: cluster().url(), tenant, pool: 4 });
      onTestFinished(() => journal.close());
      return journal;
    }

    const prune = (journal: Journal, limits: PruneLimits): Promise<Pruned> =>
      Promise.resolve(journal.prune?.(limits, 9_000) ?? Promise.reject(new Error('no prune')));
    const rowsOf = (table: string, tenant: string): number =>
      Number(cluster().sql(`SELECT count(*) FROM toolexec.${table} WHERE tenant = '${tenant}'`));
    const dangling = (tenant: string): string => cluster().sql(DANGLING.replaceAll(':tenant', `'${tenant}'`));
    const idsOf = async (journal: Journal): Promise<readonly string[]> =>
      (await journal.batches()).map(({ id }) => id).toReversed();

    /** Another transaction, like that of a slow process. */
    async function connect(): Promise<Client> {
      const client = new Client({ connectionString: cluster().url() });
      await client.connect();
      onTestFinished(() => client.end());
      return client;
    }

    /** A batch of one call that ran to its end at that time. */
    async function settle(
      journal: Journal,
      id: string,
      at: number,
      { output = 'done', conversation = id, picture = undefined as Uint8Array | undefined } = {},
    ): Promise<void> {
      await journal.accept(batchEntry(id, [callEntry('x')], { attach: true, at, conversation }));
      await journal.claim(`${id}/0`, WORKER, at);
      await journal.note(`${id}/0`, { kind: 'intent', data: { id }, at });
      const result = picture === undefined ? successOf('x', output) : pictureOf('x', picture, output);
      await journal.finish(`${id}/0`, result, at, WORKER);
    }

    it('bug: sessions that ended long ago were never removed', async () => {
      const day = 86_400_000;
      const journal = open(newTenant());
      const [gone, left, recent, alive] = ['gone', 'left', 'recent', 'alive'].map((id) => ({
        ...WORKER,
        id,
        epoch: 1,
      }));
      for (const worker of [gone, left, recent, alive]) if (worker) await journal.renew?.(worker, 1);
      if (!(gone && left && recent)) throw new Error('four workers');
      await journal.accept(batchEntry('b', [callEntry('x')]));
      await journal.claim('b/0', left, 1);
      for (const worker of [gone, left]) await journal.reap?.(worker, 1, 2);
      await journal.reap?.(recent, 1, 2 * day);
      const kept = async () => {
        const tenant = `'${journal.tenant}'`;
        return cluster()
          .sql(`SELECT worker FROM toolexec.sessions WHERE tenant = ${tenant} ORDER BY 1`)
          .split('\n');
      };
      await journal.prune?.({ before: 1, dryRun: true }, 2 * day);
      expect(await kept()).toHaveLength(4);
      await journal.prune?.({ before: 1 }, 2 * day);
      expect(await kept()).toEqual(['alive', 'left', 'recent']);
    });

    it('removes every row of old batches, of this tenant only, and counts them', async () => {
      const [tenant, other] = [newTenant(), newTenant()];
      const [journal, others] = [open(tenant), open(other)];
      for (const each of [journal, others]) {
        for (const id of ['old', 'young']) {
          const at = id === 'old' ? 1 : 1_000;
          await each.message(id, { role: 'user', content: id, at });
          await settle(each, id, at, { picture: Buffer.from(`a picture of ${id}`) });
          await each.print?.([{ key: `${id}/0`, stream: 'stdout', from: 0, text: 'hi' }], 8_999);
        }
        await each.keep(Buffer.from('nothing names it'));
      }
      const said = await prune(journal, { before: 500, dryRun: true });
      expect(rowsOf('calls', tenant)).toBe(2);
      const done = await prune(journal, { before: 500 });
      expect(done).toEqual(said);
      expect(done).toMatchObject({ batches: 1, calls: 1, messages: 1, blobs: 2, shrunk: false });
      expect(done.bytesAfter).toBeLessThan(done.bytesBefore);
      for (const [table, left] of Object.entries({
        batches: 1,
        calls: 1,
        notes: 1,
        messages: 1,
        blobs: 1,
        live_texts: 1,
      })) {
        expect([table, rowsOf(table, tenant)]).toEqual([table, left]);
        expect([table, rowsOf(table, other)]).toEqual([table, table === 'blobs' ? 3 : 2]);
      }
      expect((await journal.call('young/0'))?.result?.content).toHaveLength(4);
      expect(dangling(tenant)).toBe('');
      expect(await prune(journal, { before: 500 })).toMatchObject({
        batches: 0,
        bytesBefore: done.bytesAfter,
      });
    });

    it('removes the oldest until the rest is small enough', async () => {
      const journal = open(newTenant());
      for (let at = 1; at <= 30; at++) {
        await settle(journal, `b${at}`, at, { output: randomBytes(15_000).toString('hex') });
      }
      const said = await prune(journal, { maxBytes: 300_000, dryRun: true });
      const { bytesBefore, bytesAfter, batches } = await prune(journal, { maxBytes: 300_000 });
      expect(bytesBefore).toBeGreaterThan(450_000);
      expect(bytesAfter).toBeLessThanOrEqual(300_000);
      expect(bytesAfter).toBeGreaterThan(200_000);
      expect(said).toMatchObject({ bytesBefore, bytesAfter, batches });
      const left = await idsOf(journal);
      expect(left).toEqual(Array.from({ length: left.length }, (_, at) => `b${31 - left.length + at}`));
      expect((await prune(journal, { maxBytes: 300_000 })).batches).toBe(0);
    });

    it('shares the work with a second prune, and each batch is counted once', {
      tags: ['soak'],
    }, async () => {
      const tenant = newTenant();
      const [one, other] = [open(tenant), open(tenant)];
      for (let at = 0; at < 30; at++) {
        const calls = Array.from({ length: 30 }, (_, index) => callEntry(`x${index}`));
        await one.accept(batchEntry(`b${at}`, calls, { at: 1, conversation: `b${at}` }));
        await Promise.all(
          calls.map((_, index) => one.finish(`b${at}/${index}`, successOf(`x${index}`), 1, WORKER)),
        );
      }
      const pruned = await Promise.all([one, other].map((journal) => prune(journal, { before: 500 })));
      expect(pruned.reduce((sum, { batches }) => sum + batches, 0)).toBe(29);
      expect(pruned.reduce((sum, { calls }) => sum + calls, 0)).toBe(29 * 30);
      expect(await idsOf(one)).toEqual(['b29']);
    });

    it('leaves a batch of a conversation that another transaction has locked, and waits for no other', async () => {
      const tenant = newTenant();
      const journal = open(tenant);
      for (const id of ['busy', 'idle', 'newest']) await settle(journal, id, 1);
      const other = await connect();
      await other.query(`BEGIN; SELECT toolexec.lock_1('${tenant}', 'busy')`);
      expect(await prune(journal, { before: 500 })).toMatchObject({ batches: 1 });
      await other.query('COMMIT');
      expect(await idsOf(journal)).toEqual(['busy', 'newest']);
      expect(await prune(journal, { before: 500 })).toMatchObject({ batches: 1 });
    });

    it('keeps a content that a running call has stored again and not referred to yet', async () => {
      const tenant = newTenant();
      const journal = open(tenant);
      const picture = Buffer.from('shared');
      await settle(journal, 'old', 1, { picture });
      await settle(journal, 'older', 1, { picture: Buffer.from('not shared') });
      await journal.accept(batchEntry('running', [callEntry('x')], { at: 1_000 }));
      await journal.claim('running/0', WORKER, 1_000);
      const hash = await journal.keep(picture);
      expect(await prune(journal, { before: 500 })).toMatchObject({ batches: 2, blobs: 1 });
      await journal.note('running/0', { kind: 'intent', data: { before: hash }, at: 1_000 });
      expect(await journal.kept(hash)).toEqual(new Uint8Array(picture));
    });

    it('keeps the content of a result whose transaction ends during the prune', async () => {
      const tenant = newTenant();
      const journal = open(tenant);
      const picture = Buffer.from('shared');
      const hash = await journal.keep(picture);
      await settle(journal, 'old', 1, { picture });
      await journal.accept(batchEntry('young', [callEntry('x')], { at: 1_000 }));
      const other = await connect();
      const content = [{ type: 'image', data: { sha256: hash, bytes: picture.length } }];
      await other.query('BEGIN');
      await other.query(
        'SELECT toolexec.finish_1($1, $2, 0, $3, false, 1000, $4::text[], $5::bytea[], false, false)',
        [tenant, 'young', JSON.stringify({ ...successOf('x'), content }), [hash], [picture]],
      );
      const pruning = prune(journal, { before: 500 });
      await pause(300);
      await other.query('COMMIT');
      expect(await pruning).toMatchObject({ batches: 1, blobs: 0 });
      expect((await journal.call('young/0'))?.result?.content).toMatchObject([{ type: 'image' }]);
    });

    it('loses no delivery and no content while other processes deliver, store and finish', {
      tags: ['soak'],
    }, async () => {
      const tenant = newTenant();
      const [worker, host, pruner] = [open(tenant), open(tenant), open(tenant)];
      const pictures = Array.from({ length: 3 }, (_, index) => Buffer.from(`picture ${index}`));
      let isOver = false;
      const seen = { repeats: 0, pruned: 0 };
      const work = async (journal: Journal, name: string): Promise<void> => {
        for (let at = 0; at < 60; at++) {
          const conversation = `talk-${at % 4}`;
          const id = `${name}-${at}`;
          const [answer] = await journal.accept(
            batchEntry(id, [callEntry(`x${at % 3}`)], { attach: true, at: 1, conversation }),
          );
          if (answer?.kind === 'fresh' && (await journal.claim(answer.key, WORKER, 1))) {
            const picture = pictures[at % 3] ?? Buffer.of();
            const hash = journal.keep(picture);
            await journal.note(answer.key, { kind: 'intent', data: { before: await hash }, at: 1 });
            expect(await journal.kept(await hash)).toEqual(new Uint8Array(picture));
            await journal.finish(answer.key, pictureOf(`x${at % 3}`, picture), 1, WORKER);
          } else if (answer?.kind === 'known') seen.repeats++;
        }
      };
      const pruning = (async () => {
        while (!isOver) seen.pruned += (await prune(pruner, { before: 500 })).batches;
      })();
      await Promise.all([work(worker, 'worker'), work(host, 'host')]);
      isOver = true;
      await pruning;
      expect(dangling(tenant)).toBe('');
      for (const { id, size } of await host.batches()) expect(await host.batch(id)).toHaveLength(size);
      expect(seen.pruned).toBeGreaterThan(20);
      expect(seen.repeats).toBeGreaterThan(5);
    });
  },
);
