import { spawn, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { createDisks } from './power-loss/loop-disks.js';

const PROJECT = resolve(import.meta.dirname, '..');
const PROGRAM = ['--import', 'tsx', join(PROJECT, 'test/power-loss/change-files.ts')];
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function temporary(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-power-')));
  folders.push(folder);
  return folder;
}

const BEFORE: Readonly<Record<string, string>> = {
  'kept/one.txt': 'one',
  'kept/two.txt': 'two',
  'kept/gone.txt': 'gone',
  'other/three.txt': 'three',
};

/** The changes of each step; null: the file is removed. Directories end with a slash. */
const STEPS: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  'make a file in new directories': { 'new/deep/a.txt': 'a' },
  'replace a file': { 'kept/one.txt': 'one, again' },
  'rename into another directory': { 'kept/two.txt': null, 'other/two.txt': 'two' },
  'rename over another file': { 'other/two.txt': null, 'other/three.txt': 'two' },
  'remove a file': { 'kept/gone.txt': null },
  'change several files': {
    'kept/one.txt': 'one, patched',
    'other/three.txt': 'three, patched',
    'new/deep/a.txt': null,
    'patched/b.txt': 'b',
  },
  'remove what was made': { 'patched/b.txt': null },
};

function fill(root: string): void {
  for (const [name, text] of Object.entries(BEFORE)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

/** Every file below a directory with its content, including hidden ones. */
function filesBelow(root: string): Record<string, string> {
  const names = readdirSync(root, { recursive: true }).map(String).sort();
  const files = names.filter((name) => statSync(join(root, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(root, name), 'utf8')]));
}

interface Acknowledged {
  readonly name: string;
  readonly error?: { readonly code: string; readonly message: string; readonly details: object };
}

/** Runs the program, possibly inside another one, and examines the files after each acknowledgement. */
async function run(
  root: string,
  look: (acknowledged: Acknowledged) => void,
  [inside = process.execPath, ...options]: readonly string[] = [],
): Promise<void> {
  const before = inside === process.execPath ? [] : [...options, process.execPath];
  const child = spawn(inside, [...before, ...PROGRAM, root], {
    cwd: PROJECT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((done) => {
    child.on('exit', done);
  });
  // After its last answer the program ends, and reads no further.
  child.stdin.on('error', () => {});
  child.stdin.write('go\n');
  for await (const line of createInterface({ input: child.stdout })) {
    look(JSON.parse(line));
    child.stdin.write('go\n');
  }
  expect(await ended).toBe(0);
}

const disks = createDisks();
afterAll(() => disks.remove());
const { noDisk } = disks;

describe.skipIf(noDisk !== undefined)(
  `a loss of power after an acknowledgement${noDisk === undefined ? '' : ` (not tried: ${noDisk})`}`,
  { timeout: 180_000 },
  () => {
    it('leaves every change of files that was acknowledged, and nothing beside it', async () => {
      const disk = disks.make();
      const root = disk.at;
      fill(root);
      disk.sync();
      const expected: Record<string, string> = { ...BEFORE };
      const seen: string[] = [];
      await run(root, ({ name, error }) => {
        expect(error).toBeUndefined();
        for (const [path, text] of Object.entries(STEPS[name] ?? {})) {
          if (text === null) delete expected[path];
          else expected[path] = text;
        }
        expect(filesBelow(disk.afterPowerLoss()), name).toEqual(expected);
        seen.push(name);
      });
      expect(seen).toEqual(Object.keys(STEPS));
    });
  },
);

/** Why system calls cannot be watched here; undefined when they can. */
function whyNoTrace(): string | undefined {
  if (process.platform !== 'linux') return 'strace is a program of Linux';
  const { error, status } = spawnSync('strace', ['-o', '/dev/null', 'true']);
  if (error !== undefined) return 'strace is not installed';
  return status === 0 ? undefined : 'strace may not trace here';
}

const noTrace = whyNoTrace();

/**
 * The lines of a trace. If another thread interrupts a call, a sync is listed where it begins, and any other
 * call where it ends.
 */
function wholeCalls(trace: string): readonly string[] {
  const begun = new Map<string, string>();
  return trace.split('\n').flatMap((line) => {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const [, beginning] = /^(.*) <unfinished \.\.\.>$/.exec(call) ?? [];
    if (beginning !== undefined) {
      begun.set(thread, beginning);
      return beginning.startsWith('fsync(') ? [beginning] : [];
    }
    const [, end] = /^<\.\.\. \w+ resumed>(.*)$/.exec(call) ?? [];
    if (end === undefined) return [line];
    const whole = `${begun.get(thread) ?? ''}${end}`;
    return whole.startsWith('fsync(') ? [] : [whole];
  });
}

/** The changes of names and the syncs below a root, in words, in order. */
function readChanges(trace: string, root: string): readonly string[] {
  return wholeCalls(trace).flatMap((line) => {
    const synced = /\bfsync\(\d+<([^>]*)>/.exec(line)?.[1];
    if (synced !== undefined) {
      const isFile = basename(synced).startsWith('.toolexec-');
      return synced.startsWith(root) && !isFile ? [`sync ${synced.slice(root.length) || '/'}`] : [];
    }
    const [, call = '', rest = ''] = /\b(rename|unlink|mkdir|rmdir|link)\((.*)\) += 0/.exec(line) ?? [];
    const names = [...rest.matchAll(/"([^"]*)"/g)].map(([, path = '']) => basename(path));
    return call === '' || names.some((name) => name.includes('0000000000000000')) ? [] : [call];
  });
}

describe.skipIf(noTrace !== undefined)(
  `changes of files, as the system is asked for them${noTrace === undefined ? '' : ` (not watched: ${noTrace})`}`,
  { timeout: 180_000 },
  () => {
    const traced = (root: string, ...more: readonly string[]): readonly string[] => {
      const calls = 'trace=rename,unlink,mkdir,rmdir,link,fsync';
      return ['strace', '-f', '-y', '-s', '300', '-o', `${root}.trace`, '-e', calls, ...more];
    };

    it('are synced in every directory that they touch, after the last of them', async () => {
      const root = temporary();
      folders.push(`${root}.trace`);
      fill(root);
      const changes: Record<string, readonly string[]> = {};
      let read = 0;
      await run(
        root,
        ({ name }) => {
          const all = readChanges(readFileSync(`${root}.trace`, 'utf8'), root);
          changes[name] = all.slice(read);
          read = all.length;
        },
        traced(root),
      );
      expect(changes).toEqual({
        'make a file in new directories': [
          ...['mkdir', 'sync /', 'mkdir', 'sync /new'],
          // The content was written in the deepest existing directory.
          ...['link', 'unlink', 'sync /new/deep', 'sync /'],
        ],
        'replace a file': ['rename', 'sync /kept'],
        'rename into another directory': ['rename', 'sync /other', 'sync /kept'],
        'rename over another file': ['rename', 'sync /other'],
        'remove a file': ['unlink', 'sync /kept'],
        'change several files': [
          ...['mkdir', 'sync /'],
          // The old files get a second name before they are replaced or removed, and lose it at the end.
          ...['link', 'rename', 'link', 'rename', 'rename', 'sync /kept', 'sync /other', 'sync /patched'],
          ...['link', 'unlink', 'unlink', 'unlink', 'unlink'],
          ...['sync /kept', 'sync /other', 'sync /new/deep', 'sync /patched', 'sync /'],
        ],
        'remove what was made': ['unlink', 'sync /patched'],
      });
    });

    const AT_ONCE = 24;

    /**
     * Writes new files into one directory at the same time, under strace; returns the answers and the system
     * calls.
     */
    function writeAtOnce(root: string, ...more: readonly string[]): readonly [unknown, readonly string[]] {
      const [inside = '', ...options] = traced(root, ...more);
      const program = ['--import', 'tsx', join(PROJECT, 'test/power-loss/write-at-once.ts')];
      const { status, stdout } = spawnSync(
        inside,
        [...options, process.execPath, ...program, root, 'kept', String(AT_ONCE)],
        { cwd: PROJECT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
      );
      expect(status).toBe(0);
      return [JSON.parse(stdout), readChanges(readFileSync(`${root}.trace`, 'utf8'), root)];
    }

    it('share the syncs of a directory, and each is synced after its name is there', () => {
      const root = temporary();
      folders.push(`${root}.trace`);
      fill(root);
      const [answers, changes] = writeAtOnce(root);
      expect(answers).toEqual(Array.from({ length: AT_ONCE }, () => 'written'));
      expect(changes.filter((change) => change === 'link')).toHaveLength(AT_ONCE);
      expect(changes.at(-1)).toBe('sync /kept');
      expect(changes.filter((change) => change === 'sync /kept').length).toBeLessThan(AT_ONCE);
    });

    it('say of every file that shared a sync which the disk refused that it has changed', () => {
      const root = temporary();
      folders.push(`${root}.trace`);
      fill(root);
      const [answers] = writeAtOnce(root, '-P', join(root, 'kept'), '-e', 'inject=fsync:error=EIO');
      const details = expect.objectContaining({ errno: 'EIO', changed: true, executed: 'yes' });
      expect(answers).toEqual(Array.from({ length: AT_ONCE }, () => ({ code: 'execution_failed', details })));
      const made = readdirSync(join(root, 'kept')).filter((name) => name.startsWith('new-'));
      expect(made).toHaveLength(AT_ONCE);
    });

    it('say that the file has changed when the disk refuses the sync after a rename', async () => {
      const root = temporary();
      folders.push(`${root}.trace`);
      fill(root);
      const failed: Record<string, Acknowledged['error']> = {};
      const refuse = ['-P', join(root, 'kept'), '-e', 'inject=fsync:error=EIO'];
      await run(
        root,
        ({ name, error }) => {
          failed[name] = error;
        },
        traced(root, ...refuse),
      );
      const told = {
        code: 'execution_failed',
        message: expect.stringMatching(/^".*" has changed, but the disk did not confirm it: .*\(EIO\)/),
        details: expect.objectContaining({ errno: 'EIO', changed: true, executed: 'yes' }),
      };
      expect(failed['replace a file']).toMatchObject(told);
      expect(failed['rename into another directory']).toMatchObject(told);
      expect(failed['remove a file']).toMatchObject(told);
      expect(failed['rename over another file']).toBeUndefined();
      // Refused before the last step: everything is restored.
      expect(failed['change several files']).toMatchObject({
        code: 'execution_failed',
        details: expect.objectContaining({ errno: 'EIO' }),
      });
      expect(failed['change several files']?.details).not.toHaveProperty('changed');
      expect(filesBelow(root)).toEqual({
        'kept/one.txt': 'one, again',
        'new/deep/a.txt': 'a',
        'other/three.txt': 'two',
      });
    });
  },
);
