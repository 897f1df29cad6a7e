import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Journal } from '../../contract/journal.js';
import type { ObjectStore } from '../../contract/object-store.js';
import { batchEntry, callEntry, pictureOf, successOf, WORKER } from '../../testing/journal-entries.js';
import { useCluster, whyNoPostgres } from './fixtures/postgres-cluster.js';
import { type S3Server, startS3 } from './fixtures/s3-server.js';
import { postgresJournal } from './open-postgres-journal.js';
import { type S3ObjectsOptions, s3Objects } from './s3-objects.js';

async function start(): Promise<S3Server> {
  const server = await startS3();
  onTestFinished(() => server.close());
  return server;
}

function optionsOf({ endpoint, bucket, accessKeyId, secretAccessKey }: S3Server): S3ObjectsOptions {
  return { endpoint, bucket, accessKeyId, secretAccessKey, timeoutMs: 2_000 };
}

describe('s3Objects()', () => {
  it('writes, reads and removes objects with signed requests', async () => {
    const server = await start();
    const store = await s3Objects(optionsOf(server));
    expect(store.name).toBe(`${server.endpoint}/results`);
    const bytes = new Uint8Array(randomBytes(2_000_000));
    await store.put('a/b-1', bytes);
    expect(Buffer.compare((await store.get('a/b-1')) ?? Buffer.of(), bytes)).toBe(0);
    await store.delete('a/b-1');
    await store.delete('a/b-1');
    expect(await store.get('a/b-1')).toBeUndefined();
  });

  it('retries for a moment, then reports the failure without the secret', async () => {
    const server = await start();
    const store = await s3Objects(optionsOf(server));
    server.fail(2);
    await store.put('a', Uint8Array.of(1));
    server.fail(9);
    await expect(store.put('a', Uint8Array.of(1))).rejects.toThrow('the service answers 503 SlowDown');
    expect(server.requests).toHaveLength(6);
    server.fail(0);
    const wrong = await s3Objects({ ...optionsOf(server), secretAccessKey: 'hush' });
    const refused = expect(wrong.get('a')).rejects;
    await refused.toThrow('the service answers 403 SignatureDoesNotMatch');
    await refused.not.toThrow('hush');
    const elsewhere = await s3Objects({ ...optionsOf(server), bucket: 'missing' });
    await expect(elsewhere.get('a')).rejects.toThrow('404 NoSuchBucket');
    await server.close();
    await expect(store.get('a')).rejects.toThrow('ECONNREFUSED');
  });

  it('gives up on a service that does not answer', async () => {
    const server = await start();
    const store = await s3Objects({ ...optionsOf(server), timeoutMs: 1 });
    await expect(store.put('a', Uint8Array.of(1))).rejects.toThrow(/timeout|aborted/);
  });

  it.each([
    [{ endpoint: 'ftp://x' }, 's3Objects.endpoint must be'],
    [{ bucket: 'a/b' }, 's3Objects.bucket must be'],
    [{ endpoint: undefined }, 's3Objects needs `endpoint`'],
    [{ keyId: 'x' }, 'Unknown option s3Objects.keyId'],
  ])('refuses %j', async (wrong, message) => {
    const options = { endpoint: 'http://h', bucket: 'abc', accessKeyId: 'a', secretAccessKey: 'b', ...wrong };
    await expect(s3Objects(options as S3ObjectsOptions)).rejects.toThrow(message);
  });
});

const missing = whyNoPostgres();

describe.skipIf(missing !== undefined)(
  `large contents of a journal in Postgres${missing === undefined ? '' : `: ${missing}`}`,
  () => {
    const cluster = useCluster();
    let count = 0;

    function open(objects?: ObjectStore, tenant = `tenant-${count++}`): Journal {
      const journal = postgresJournal({
        ...{ url: cluster().url(), tenant, pool: 3 },
        ...(objects === undefined ? {} : { objects }),
      });
      onTestFinished(() => journal.close());
      return journal;
    }

    async function run(journal: Journal, id: string, at: number): Promise<string> {
      await journal.accept(batchEntry(id, [callEntry('x')], { at, conversation: id }));
      await journal.claim(`${id}/0`, WORKER, at);
      return `${id}/0`;
    }

    const long = 'z'.repeat(2_000_000);

    it('are stored as objects: their rows are written before them, and the results after them', async () => {
      const server = await start();
      const journal = open(await s3Objects(optionsOf(server)));
      const picture = randomBytes(1_500_000);
      const result = pictureOf('x', new Uint8Array(picture), long);
      const key = await run(journal, 'b', 1);
      // Requested in one turn: the answer of the second waits for the objects of the first.
      const [said, read] = await Promise.all([journal.finish(key, result, 2, WORKER), journal.call(key)]);
      expect(said).toBe('recorded');
      expect(isDeepStrictEqual(read?.result, result)).toBe(true);
      expect(server.objects.size).toBe(2);
      const hash = await journal.keep(picture);
      expect(Buffer.compare((await journal.kept(hash)) ?? Buffer.of(), picture)).toBe(0);
      expect(server.objects.size).toBe(2);
      expect(cluster().sql("SELECT max(length(content)) FROM toolexec.blobs WHERE tenant = 'tenant-0'")).toBe(
        '0',
      );
    });

    it('are in the database if the object store fails, or until the result is recorded', {
      tags: ['soak'],
    }, async () => {
      const server = await start();
      const journal = open(await s3Objects(optionsOf(server)));
      const key = await run(journal, 'b', 1);
      server.fail(9);
      expect(await journal.finish(key, successOf('x', long), 2, WORKER)).toBe('recorded');
      expect((await journal.call(key))?.result?.output).toBe(long);
      const larger = await run(journal, 'c', 1);
      const result = successOf('x', 'y'.repeat(17 * 1024 * 1024));
      await server.close();
      await expect(journal.finish(larger, result, 2, WORKER)).rejects.toMatchObject({
        code: 'journal_unavailable',
        message: expect.stringContaining(`the object store ${server.endpoint}/results failed`),
      });
      expect((await journal.call(larger))?.state).toBe('running');
    });

    it('never turn into an empty result, if an object is missing or changed, or the store is unavailable or not configured', async () => {
      const server = await start();
      const tenant = `tenant-${count++}`;
      const journal = open(await s3Objects(optionsOf(server)), tenant);
      const key = await run(journal, 'b', 1);
      await journal.finish(key, successOf('x', long), 2, WORKER);
      await expect(open(undefined, tenant).call(key)).rejects.toThrow('Configure it: [fleet.objects]');
      const [[name = ''] = []] = server.objects;
      const lost = { success: true, truncated: true, output: expect.stringContaining('The output is lost') };
      server.objects.set(name, Buffer.from('changed'));
      expect((await journal.call(key))?.result).toMatchObject(lost);
      server.objects.delete(name);
      expect((await journal.call(key))?.result).toMatchObject(lost);
      await server.close();
      await expect(journal.call(key)).rejects.toMatchObject({ code: 'journal_unavailable' });
    });

    it('are removed by a prune, even those of a process that died before it recorded the result', async () => {
      const server = await start();
      const tenant = `tenant-${count++}`;
      const journal = open(await s3Objects(optionsOf(server)), tenant);
      for (const [id, at] of Object.entries({ old: 1, young: 1_000 })) {
        await journal.finish(await run(journal, id, at), successOf('x', `${id} ${long}`), at, WORKER);
      }
      // As after a crash between the object and the result.
      await journal.keep(randomBytes(1_200_000));
      expect(server.objects.size).toBe(3);
      server.fail(3);
      await expect(journal.prune?.({ before: 500 }, 9_000)).rejects.toThrow('Prune again when it is back.');
      expect(server.objects.size).toBe(3);
      await run(journal, 'last', 1_000);
      await journal.finish('last/0', successOf('x'), 1_000, WORKER);
      await journal.finish(await run(journal, 'old again', 1), successOf('x', `old ${long}`), 1, WORKER);
      await run(journal, 'newest', 1_000);
      expect(await journal.prune?.({ before: 500 }, 9_000)).toMatchObject({ batches: 1 });
      expect((await journal.call('young/0'))?.result?.output).toBe(`young ${long}`);
      const rows = cluster().sql(`SELECT count(object_key) FROM toolexec.blobs WHERE tenant = '${tenant}'`);
      expect(server.objects.size).toBe(Number(rows));
      expect(cluster().sql(`SELECT count(*) FROM toolexec.dead_objects WHERE tenant = '${tenant}'`)).toBe(
        '0',
      );
    });
  },
);
