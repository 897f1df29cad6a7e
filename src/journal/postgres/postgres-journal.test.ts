import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Journal } from '../../contract/journal.js';
import { createExecutor } from '../../executor/create-executor.js';
import { defineTool } from '../../executor/declare/define-tool.js';
import { describeJournal } from '../../testing/describe-journal.js';
import { bundleProgram } from '../../testing/fixtures/bundle-program.js';
import { batchEntry, callEntry, failureOf, successOf, WORKER } from '../../testing/journal-entries.js';
import { examinePostgres } from './examine-postgres.js';
import { DANGLING } from './fixtures/dangling.js';
import { startLosingProxy } from './fixtures/losing-proxy.js';
import { useCluster, whyNoPostgres } from './fixtures/postgres-cluster.js';
import { SCHEMA_VERSION } from './migrate.js';
import { type PostgresJournalOptions, postgresJournal } from './open-postgres-journal.js';
import { STEPS } from './schema.js';

const missing = whyNoPostgres();

describe.skipIf(missing !== undefined)(
  `postgresJournal()${missing === undefined ? '' : `: ${missing}`}`,
  () => {
    const cluster = useCluster();
    let count = 0;

    /** Closed at the end of the test. */
    function open(options: PostgresJournalOptions = {}): Journal {
      const journal = postgresJournal({ url: cluster().url(), tenant: 'test', pool: 3, ...options });
      onTestFinished(() => journal.close());
      return journal;
    }

    const newTenant = (): string => `tenant-${count++}`;

    describeJournal(
      'postgresJournal()',
      () => {
        const tenant = newTenant();
        const another = (): Journal => postgresJournal({ url: cluster().url(), tenant, pool: 3 });
        const journal = another();
        const upkeep = {
          verify: () => cluster().sql(DANGLING.replaceAll(':tenant', `'${tenant}'`)) === '',
          prune: (before: number) => journal.prune?.({ before }, 5_000),
        };
        return { journal, open: another, upkeep };
      },
      { describe, it },
    );

    it('hides all data of a tenant from other tenants', async () => {
      const [own, other] = [open({ tenant: 'acme' }), open({ tenant: "ac'me" })];
      const worker = { ...WORKER, epoch: 1 };
      await own.accept(batchEntry('b', [callEntry('x')], { conversation: 'c', attach: true, placement: {} }));
      await own.message('c', { role: 'user', content: 'secret', at: 1 });
      await own.remember?.('c', [{ key: 'k', value: 'secret', at: 1 }]);
      await own.note('b/0', { kind: 'intent', data: {}, at: 1 });
      await own.renew?.(worker, 1);
      const hash = await own.keep(Uint8Array.of(1));
      expect(await other.call('b/0')).toBeUndefined();
      expect(await other.find(undefined, 'x')).toBeUndefined();
      expect(await other.find('c', 'x')).toBeUndefined();
      expect(await other.claim('b/0', WORKER, 2)).toBe(false);
      expect(await other.claim('b/0', worker, 2)).toBe(false);
      await expect(other.finish('b/0', successOf('x'), 2, WORKER)).rejects.toThrow('no such call');
      await expect(other.cancel?.('b/0', failureOf('x'), 2)).rejects.toThrow('no such call');
      await expect(other.note('b/0', { kind: 'intent', data: {}, at: 1 })).rejects.toThrow('no such call');
      await expect(other.decide('b', { kind: 'wait', at: 2, data: {} })).rejects.toThrow('no such batch');
      expect(await other.reap?.(worker, 1, 2)).toBeUndefined();
      for (const read of [
        other.batch('b'),
        other.unfinished(),
        other.unfinished('c'),
        other.waiting?.('b'),
        other.queued?.({ limit: 9 }),
        other.sessions?.(),
        other.notes('b/0'),
        other.decisions('b'),
        other.batches(),
        other.history('c'),
      ]) {
        expect(await read).toEqual([]);
      }
      expect(await other.kept(hash)).toBeUndefined();
      expect(await other.recall?.('c')).toEqual({ facts: [], mark: 0 });
      // The same ids are free for another tenant.
      const entry = batchEntry('b', [callEntry('x', { path: 'other' })], { conversation: 'c', attach: true });
      expect(await other.accept(entry)).toEqual([{ kind: 'fresh', key: 'b/0' }]);
      expect((await own.call('b/0'))?.args).toEqual({ path: 'a.txt' });
    });

    it('is created once if many processes start at the same time on an empty database', async () => {
      cluster().sql('CREATE DATABASE empty');
      const url = cluster().url('empty');
      const journals = Array.from({ length: 8 }, () => open({ url, pool: 1 }));
      const accepted = await Promise.all(
        journals.map((journal, index) => journal.accept(batchEntry(`b${index}`, [callEntry('x')]))),
      );
      expect(accepted.flat().map(({ kind }) => kind)).toEqual(journals.map(() => 'fresh'));
      const versions = STEPS.map((_, index) => String(index + 1));
      expect(cluster().sql('SELECT version FROM toolexec.versions', 'empty').split('\n')).toEqual(versions);
    });

    it('updates the schema of the previous version, while processes of that version continue', async () => {
      const [first = ''] = STEPS;
      cluster().sql(`CREATE SCHEMA older; CREATE TABLE older.versions (
        version integer PRIMARY KEY, migrated_at timestamptz NOT NULL DEFAULT now());
        ${first.replaceAll('{s}', 'older')}; INSERT INTO older.versions VALUES (1)`);
      const acceptAsOlder = (id: string): string =>
        cluster().sql(`SELECT kind FROM older.accept_1('default', '${id}', 'c', false, 1, '${id}', null, null, null, null, '{}',
          '{}', null, '{x}', '{null}', '{write_file}', '{"{}"}', '{null}', '{"[]"}', '{execute_now}', '{""}')`);
      expect(acceptAsOlder('b1')).toBe('fresh');
      const journal = open({ schema: 'older', tenant: 'default' });
      const placed = { placement: {}, openQuota: 2 };
      expect(await journal.accept(batchEntry('b2', [callEntry('x'), callEntry('y')], placed))).toMatchObject([
        { kind: 'over_quota', open: 1 },
        { kind: 'over_quota' },
      ]);
      expect(cluster().sql('SELECT max(version) FROM older.versions')).toBe(String(SCHEMA_VERSION));
      expect(acceptAsOlder('b3')).toBe('fresh');
      expect((await journal.queued?.({ limit: 9, order: 'fair' }))?.map(({ key }) => key)).toEqual([
        'b1/0',
        'b3/0',
      ]);
    });

    it('waits longer for a schema update than for an operation, because it may read whole tables', async () => {
      const older = STEPS.slice(0, -1).map((step) => step.replaceAll('{s}', 'slow'));
      cluster().sql(`CREATE SCHEMA slow; CREATE TABLE slow.versions (
        version integer PRIMARY KEY, migrated_at timestamptz NOT NULL DEFAULT now());
        ${older.join(';')}; INSERT INTO slow.versions VALUES (${older.length})`);
      const writer = new Client(cluster().url());
      await writer.connect();
      onTestFinished(() => writer.end());
      await writer.query('BEGIN; LOCK TABLE slow.calls IN ROW EXCLUSIVE MODE');
      const journal = open({ schema: 'slow', tenant: 'default', busyTimeoutMs: 1_500 });
      const asked = journal.sessions?.();
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      await writer.query('COMMIT');
      expect(await asked).toEqual([]);
      expect(cluster().sql('SELECT max(version) FROM slow.versions')).toBe(String(SCHEMA_VERSION));
    });

    it('gives the last place of a quota to one of many processes', async () => {
      const tenant = newTenant();
      const journals = Array.from({ length: 4 }, () => open({ tenant, pool: 2 }));
      const answers = await Promise.all(
        journals.flatMap((journal, index) =>
          [0, 1, 2].map((each) =>
            journal.accept(
              batchEntry(`b${index}-${each}`, [callEntry('x')], {
                conversation: `c${index}-${each}`,
                placement: { quotas: { running: 2 } },
                openQuota: 5,
              }),
            ),
          ),
        ),
      );
      const accepted = answers.flat().filter(({ kind }) => kind === 'fresh');
      expect(accepted).toHaveLength(5);
      const workers = journals.map((journal, index) => ({
        journal,
        worker: { ...WORKER, id: `w${index}`, epoch: 1 },
      }));
      for (const { journal, worker } of workers) await journal.renew?.(worker, 1);
      const claims = await Promise.all(
        workers.flatMap(({ journal, worker }) => accepted.map(({ key }) => journal.claim(key, worker, 2))),
      );
      expect(claims.filter(Boolean)).toHaveLength(2);
    });

    it('continues with a schema that a newer version has extended, and leaves it unchanged', async () => {
      const options = { schema: 'newer' };
      await open(options).accept(batchEntry('b1', [callEntry('x')]));
      cluster().sql('ALTER TABLE newer.calls ADD COLUMN more text; INSERT INTO newer.versions VALUES (99)');
      const journal = open(options);
      expect(await journal.claim('b1/0', WORKER, 1)).toBe(true);
      expect(await journal.finish('b1/0', successOf('x'), 2, WORKER)).toBe('recorded');
      expect(cluster().sql('SELECT max(version) FROM newer.versions')).toBe('99');
    });

    it('reports its versions without a change, before the first call and afterwards', async () => {
      const schema = 'examined';
      const url = cluster().url().replace('postgres@', 'postgres:hush@');
      const before = await examinePostgres(url, { schema });
      expect(before).toMatchObject({
        place: `postgres://127.0.0.1:${cluster().port}/postgres`,
        schema: 0,
        known: SCHEMA_VERSION,
      });
      expect(before.server).toMatch(/^\d+/);
      await open({ schema }).accept(batchEntry('b', [callEntry('x')]));
      expect(await examinePostgres(url, { schema })).toEqual({ ...before, schema: SCHEMA_VERSION });
    });

    it('answers journal_unavailable while the server is gone, never hangs, and continues when it is back', async () => {
      const journal = open({ tenant: newTenant(), busyTimeoutMs: 600 });
      await journal.accept(batchEntry('b1', [callEntry('x')]));
      cluster().stop('immediate');
      const asked = performance.now();
      const refused = await Promise.allSettled([
        journal.accept(batchEntry('b2', [callEntry('y')])),
        journal.claim('b1/0', WORKER, 1),
        journal.call('b1/0'),
        journal.unfinished(),
      ]);
      expect(refused.map((each) => each.status === 'rejected' && each.reason.code)).toEqual(
        refused.map(() => 'journal_unavailable'),
      );
      expect(String((refused[0] as PromiseRejectedResult).reason)).toContain('the server cannot be reached');
      expect(performance.now() - asked).toBeLessThan(20_000);
      cluster().start();
      expect(await journal.claim('b1/0', WORKER, 1)).toBe(true);
      // The refused batch is withdrawn as soon as the server is back.
      await expect.poll(async () => (await journal.unfinished()).map(({ key }) => key)).toEqual(['b1/0']);
    });

    it('gives up on a server that does not answer, and uses it again when it does', async () => {
      const journal = open({ tenant: newTenant(), busyTimeoutMs: 500 });
      await journal.accept(batchEntry('b1', [callEntry('x')]));
      cluster().signal('STOP');
      try {
        await expect(journal.claim('b1/0', WORKER, 1)).rejects.toMatchObject({ code: 'journal_unavailable' });
      } finally {
        cluster().signal('CONT');
      }
      // The server may have claimed it before it died: then another claim is refused, as required.
      expect([true, false]).toContain(await journal.claim('b1/0', WORKER, 2));
      expect((await journal.call('b1/0'))?.state).toBe('running');
    });

    it('reports that no connection is free, and continues as soon as one is', async () => {
      cluster().sql('CREATE ROLE few LOGIN CONNECTION LIMIT 1; GRANT ALL ON DATABASE postgres TO few');
      const url = cluster().url().replace('postgres@', 'few:hush@');
      const options = { url, tenant: 'test', schema: 'few', busyTimeoutMs: 300 };
      const first = postgresJournal(options);
      await first.accept(batchEntry('b1', [callEntry('x')]));
      const second = open(options);
      const refused = second.call('b1/0');
      await expect(refused).rejects.toThrow('no connection left');
      await expect(refused).rejects.not.toThrow('hush');
      await first.close();
      expect((await second.call('b1/0'))?.state).toBe('queued');
    });

    it('records a request only once if it was sent again after a lost answer, and answers correctly', async () => {
      const proxy = await startLosingProxy(cluster().port);
      onTestFinished(() => proxy.close());
      const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
      const journal = open({ url, tenant: newTenant(), pool: 1 });
      await journal.sessions?.();
      proxy.loseAnswerTo('accept_2');
      const entry = batchEntry('b1', [callEntry('x'), callEntry('x', { path: 'other' })], { attach: true });
      expect((await journal.accept(entry)).map(({ kind }) => kind)).toEqual(['fresh', 'conflict']);
      proxy.loseAnswerTo('claim_1');
      expect(await journal.claim('b1/0', WORKER, 1)).toBe(true);
      expect(await journal.claim('b1/0', WORKER, 1)).toBe(false);
      proxy.loseAnswerTo('note_1');
      await journal.note('b1/0', { kind: 'intent', data: {}, at: 1 });
      proxy.loseAnswerTo('finish_2');
      expect(await journal.finish('b1/0', successOf('x'), 2, WORKER)).toBe('recorded');
      proxy.loseAnswerTo('finish_2');
      expect(await journal.finish('b1/0', failureOf('x'), 3, WORKER)).toBe('late');
      expect((await journal.notes('b1/0')).map(({ kind }) => kind)).toEqual(['intent', 'late_result']);
      proxy.loseAnswerTo('decide_1');
      expect(await journal.decide('b1', { kind: 'wait', at: 4, data: {} })).toBe(true);
      expect(await journal.decisions('b1')).toHaveLength(1);
      proxy.loseAnswerTo('message_1');
      await journal.message('conversation', { role: 'user', content: 'once', at: 5 });
      expect(await journal.history('conversation')).toHaveLength(2);
    });

    it('leaves no call queued that it refused because the answer of the server came too late', async () => {
      const proxy = await startLosingProxy(cluster().port);
      onTestFinished(() => proxy.close());
      const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
      const tenant = newTenant();
      const journal = open({ url, tenant, pool: 1, busyTimeoutMs: 1_000 });
      const patient = open({ tenant });
      await expect.poll(() => Promise.resolve(journal.sessions?.()).catch(() => undefined)).toEqual([]);
      proxy.loseAnswerTo('accept_2', 3_000);
      const entry = batchEntry('b1', [callEntry('x')], { attach: true, worker: WORKER });
      await expect(journal.accept(entry)).rejects.toMatchObject({ code: 'journal_unavailable' });
      await expect
        .poll(async () => (await patient.call('b1/0'))?.result?.error?.code)
        .toBe('journal_unavailable');
      expect(await patient.accept({ ...entry, id: 'b2' })).toEqual([{ kind: 'fresh', key: 'b2/0' }]);
    });

    it('closes before its process ends, if nothing else keeps the process alive', () => {
      const program = bundleProgram(
        fileURLToPath(new URL('./fixtures/listen-and-close.mjs', import.meta.url)),
      );
      const { status, stdout } = spawnSync(process.execPath, [program, cluster().url()], {
        encoding: 'utf8',
      });
      expect({ status, stdout }).toEqual({ status: 0, stdout: 'closed\n' });
    });

    it('gives two executors with separate connections one run of a call', async () => {
      const tenant = newTenant();
      let runs = 0;
      const count = defineTool({
        name: 'count',
        description: 'Counts.',
        input: { type: 'object' },
        execute: () => `run ${++runs}`,
      });
      const call = { id: 'call-1', name: 'count', args: {} };
      const executors = [1, 2].map(() =>
        createExecutor({ tools: [count], policy: null, journal: open({ tenant }) }),
      );
      for (const executor of executors) onTestFinished(() => executor.close());
      const answers = await Promise.all(
        executors.map((executor) => executor.run([call], { conversation: 'talk' })),
      );
      expect(answers.flat().map(({ output }) => output)).toEqual(['run 1', 'run 1']);
      expect(runs).toBe(1);
    });

    it.each([
      [{}, 'needs `url`'],
      [{ url: 'mysql://host/db' }, 'not an address of Postgres'],
      [{ url: 'postgres://h/d', schema: 'a"b' }, 'postgresJournal.schema must be'],
      [{ url: 'postgres://h/d', pool: 0 }, 'postgresJournal.pool must be'],
      [{ url: 'postgres://h/d', tenent: 'x' }, 'Unknown option postgresJournal.tenent'],
    ])('refuses %j', (options, message) => {
      expect(() => postgresJournal(options)).toThrow(message);
    });
  },
);
