import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canMakeReadOnly, makeReadOnly } from '../testing/fixtures/read-only-medium.js';
import { batchEntry, callEntry, successOf, WORKER } from '../testing/journal-entries.js';
import { openArchive } from './open-archive.js';
import { openJournal } from './open-journal.js';
import { pruneJournal } from './prune-journal.js';
import { findJournalLoss, verifyJournal } from './verify-journal.js';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-media-'));
  path = join(directory, 'journal.db');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function record(ids: readonly string[]) {
  const journal = openJournal(path);
  for (const id of ids) {
    await journal.accept(batchEntry(id, [callEntry('x')]));
    await journal.claim(`${id}/0`, WORKER, 1);
    await journal.finish(`${id}/0`, successOf('x', id), 2, WORKER);
  }
  return journal;
}

const unavailable = (text: RegExp): object => ({
  code: 'journal_unavailable',
  message: expect.stringMatching(text),
});

describe.skipIf(!existsSync('/proc/self/fd'))('a journal that is closed', () => {
  const opened = (): readonly string[] =>
    readdirSync('/proc/self/fd').flatMap((descriptor) => {
      try {
        const file = readlinkSync(join('/proc/self/fd', descriptor));
        return file.startsWith(directory) ? [file] : [];
      } catch {
        return [];
      }
    });

  it('has no descriptor open, even after reads', async () => {
    const journal = await record(['a', 'b']);
    await Promise.all(['c', 'd', 'e'].map((id) => journal.accept(batchEntry(id, [callEntry('x')]))));
    await journal.batches();
    await journal.isAlone?.();
    expect(opened().length).toBeGreaterThan(0);
    await journal.close();
    expect(opened()).toEqual([]);
  });

  it('has none open after listing, verifying and pruning', async () => {
    await (await record(['a', 'b', 'c'])).close();
    const archive = openArchive(path);
    archive.batches();
    archive.close();
    verifyJournal(path);
    findJournalLoss(path);
    await pruneJournal(path, { before: 1e15, at: 5_000 });
    expect(opened()).toEqual([]);
  });
});

describe.skipIf(process.platform === 'win32')('a path where no journal can be stored', () => {
  const use = async (place: string): Promise<unknown> => {
    const journal = openJournal(place);
    try {
      return await journal.accept(batchEntry('a', []));
    } finally {
      await journal.close();
    }
  };

  it('is refused at once if it is a pipe, a socket, a directory or a device', async () => {
    execFileSync('mkfifo', [path]);
    await expect(use(path)).rejects.toMatchObject(unavailable(/it is a pipe/));
    expect(() => verifyJournal(path)).toThrow(/it is a pipe/);
    rmSync(path);
    const server = createServer();
    await promisify((done: () => void) => server.listen(path, done))();
    await expect(use(path)).rejects.toMatchObject(unavailable(/it is a socket/));
    await promisify(server.close.bind(server))();
    mkdirSync(path);
    await expect(use(path)).rejects.toMatchObject(unavailable(/it is a directory/));
    await expect(use('/dev/null')).rejects.toMatchObject(unavailable(/it is a device/));
  });

  it('is reported with the exact reason: a loop of links, too long, no directory', async () => {
    symlinkSync('circle', join(directory, 'circle'));
    await expect(use(join(directory, 'circle'))).rejects.toMatchObject(unavailable(/circle/));
    await expect(use(join(directory, 'circle', 'j.db'))).rejects.toMatchObject(unavailable(/circle/));
    await expect(use(join(directory, 'n'.repeat(300)))).rejects.toMatchObject(unavailable(/too long/));
    const deep = join(directory, ...new Array<string>(6).fill('d'.repeat(99)), 'j.db');
    await expect(use(deep)).rejects.toMatchObject(unavailable(/too long/));
    await expect(use('/proc/none/j.db')).rejects.toMatchObject({ code: 'journal_unavailable' });
  });

  it('is distinguished from a process with too many open files', {
    tags: ['soak'],
    timeout: 180_000,
  }, () => {
    const program = `
      import { openSync } from 'node:fs';
      const { openJournal } = await import(${JSON.stringify(new URL('./open-journal.ts', import.meta.url).href)});
      const warm = openJournal(':memory:'); await warm.batches();
      try { for (;;) openSync('/dev/null'); } catch {}
      const said = await openJournal(${JSON.stringify(path)}).batches().catch((error) => error);
      process.stdout.write(said.code + ': ' + said.message);`;
    const shell = `ulimit -n 200; exec "$0" --import tsx --input-type=module -e "$1"`;
    const { stdout } = spawnSync('bash', ['-c', shell, process.execPath, program], { encoding: 'utf8' });
    expect(stdout).toMatch(/^journal_unavailable: .*too many files open/);
  });
});

const isReadable = canMakeReadOnly();

describe.skipIf(!isReadable)(
  `a journal on read-only media${isReadable ? '' : ' (not tried: nothing can be mounted here)'}`,
  () => {
    it('is listed, read and verified, whether closed or left by a dead process, and stays unchanged', async () => {
      const journal = await record(['a', 'b']);
      for (const [name, suffixes] of [
        ['left', ['', '-wal', '-head']],
        ['lost', ['', '-head']],
      ] as const) {
        mkdirSync(join(directory, name));
        for (const suffix of suffixes)
          copyFileSync(`${path}${suffix}`, join(directory, name, `journal.db${suffix}`));
      }
      await journal.close();
      mkdirSync(join(directory, 'closed'));
      for (const suffix of ['', '-head'])
        copyFileSync(`${path}${suffix}`, join(directory, 'closed', `journal.db${suffix}`));
      for (const name of ['closed', 'left', 'lost']) {
        const place = join(directory, name);
        const file = join(place, 'journal.db');
        const names = readdirSync(place);
        const back = makeReadOnly(place);
        try {
          const archive = openArchive(file);
          const ids = archive.batches().map(({ id }) => id);
          const [call] = archive.calls('b');
          archive.close();
          const verified = verifyJournal(file);
          expect({ name, ids, intact: verified.intact, lost: 'lost' in verified }).toEqual({
            name,
            ids: name === 'lost' ? expect.any(Array) : ['b', 'a'],
            intact: name !== 'lost',
            lost: name === 'lost',
          });
          if (name !== 'lost') expect(call?.result?.output).toBe('b');
          expect(readdirSync(place)).toEqual(names);
        } finally {
          back?.();
        }
      }
    });

    it.each([['closed'], ['left by a process that died']])(
      'answers calls that it has recorded, %s, and refuses new ones',
      async (how) => {
        const writer = await record(['a', 'b']);
        const place = join(directory, 'medium');
        mkdirSync(place);
        if (how === 'closed') await writer.close();
        for (const suffix of how === 'closed' ? ['', '-head'] : ['', '-wal', '-head'])
          copyFileSync(`${path}${suffix}`, join(place, `journal.db${suffix}`));
        await writer.close();
        const names = readdirSync(place);
        const back = makeReadOnly(place);
        try {
          const journal = openJournal(join(place, 'journal.db'));
          expect((await journal.find(undefined, 'x'))?.result?.output).toBe('b');
          expect((await journal.call('b/0'))?.result?.output).toBe('b');
          expect(await journal.unfinished()).toEqual([]);
          expect(await journal.isAlone?.()).toBe(false);
          const [refused, read] = await Promise.allSettled([
            journal.accept(batchEntry('c', [callEntry('y')])),
            journal.batch('a'),
          ]);
          expect(refused).toMatchObject({ reason: unavailable(/cannot be written/) });
          expect(read).toMatchObject({ value: [{ callId: 'x' }] });
          await journal.close();
          expect(readdirSync(place)).toEqual(names);
        } finally {
          back?.();
        }
      },
    );

    it('answers with the last commit of another process, which can write to it', {
      timeout: 180_000,
    }, async () => {
      const other = join(directory, 'other');
      mkdirSync(other);
      await (await record(['a'])).close();
      const mounted = spawnSync('mount', ['--bind', directory, other]).status === 0;
      if (!mounted) return;
      try {
        spawnSync('mount', ['-o', 'remount,ro,bind', other]);
        const reader = openJournal(join(other, 'journal.db'));
        expect((await reader.call('a/0'))?.result?.output).toBe('a');
        for (let round = 0; round < 40; round++) {
          // Opened, written, and most often checkpointed and closed again.
          const ids = [`n${round}`, `m${round}`];
          const writer = await record(ids);
          if (round % 3 !== 0) await writer.close();
          expect((await reader.call(`m${round}/0`))?.result?.output).toBe(`m${round}`);
          await expect(reader.accept(batchEntry(`r${round}`, []))).rejects.toMatchObject(
            unavailable(/cannot be written/),
          );
          await writer.close();
          expect((await reader.batches({})).length).toBe(1 + 2 * (round + 1));
        }
        await reader.close();
      } finally {
        spawnSync('umount', [other]);
      }
    });

    it('reports to writers that it is read-only', async () => {
      await (await record(['a'])).close();
      const back = makeReadOnly(directory);
      try {
        const journal = openJournal(path);
        const refused = unavailable(/cannot be written/);
        await expect(journal.accept(batchEntry('b', []))).rejects.toMatchObject(refused);
        await journal.close();
      } finally {
        back?.();
      }
    });
  },
);
