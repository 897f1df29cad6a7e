import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { buildFirst } from '../cli/built-command.js';
import { message, type Ran, Toolexec } from '../cli/toolexec.js';
import { runUntilKilled } from './killed-run.js';

const noMount = whyNoMount();
const mounted: string[] = [];

buildFirst();

afterEach(() => {
  for (const place of mounted.splice(0)) unmount(place);
});

describe.skipIf(noMount !== undefined)(
  `the journal's commands on read-only media${noMount === undefined ? '' : ` (not tried: ${noMount})`}`,
  () => {
    it('show a journal that was closed, and change nothing', async () => {
      await onDisk(async (toolexec, journal) => {
        const call = message(['bash', { command: 'echo hello' }]);
        const args = ['run', '-', '--yes', '--journal', journal, '--conversation', 'c'];
        await toolexec.run(args, { stdin: JSON.stringify(call) });
        makeReadOnly(join(journal, '..'));
        const ran = await lookAt(toolexec, journal, 'toolu_1');
        expect(ran.list.stdout).toMatch(/ c +1 +1 ok/);
        expect(ran.show.stdout).toContain('hello');
      });
    });

    it('show what a killed process has left in the write-ahead log', async () => {
      await onDisk(async (toolexec, journal) => {
        await runUntilKilled({
          root: toolexec.root,
          journal,
          at: 'after claim',
          calls: [{ id: 'left', name: 'write_file', args: { path: 'f', content: 'text' } }],
          conversation: 'c',
        });
        expect(readdirSync(join(journal, '..'))).toContain('journal.db-wal');
        makeReadOnly(join(journal, '..'));
        const ran = await lookAt(toolexec, journal, 'left');
        expect(ran.list.stdout).toMatch(/ c +1 +1 running/);
        expect(ran.show.stdout).toContain('write_file');
      });
    });

    it('list what a killed process has left to recover, and change nothing', { tags: ['soak'] }, async () => {
      await onDisk(async (toolexec, journal) => {
        await leaveCall(toolexec, journal);
        makeReadOnly(join(journal, '..'));
        const before = contentOf(join(journal, '..'));
        const ran = await toolexec.run(['journal', 'recover', '--journal', journal]);
        expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('write_file'), stderr: '' });
        expect(contentOf(join(journal, '..'))).toEqual(before);
      });
    });

    it('are refused where they would have to write, with one line', async () => {
      await onDisk(async (toolexec, journal) => {
        await leaveCall(toolexec, journal);
        makeReadOnly(join(journal, '..'));
        const ran = await toolexec.run(['journal', 'prune', '--max-size', '1kb', '--journal', journal]);
        expect(ran).toMatchObject({
          code: 2,
          stderr: expect.stringMatching(/^toolexec: Cannot [^\n]*\n$/),
        });
      });
    });
  },
);

describe.skipIf(noMount !== undefined)(
  `the journal's commands on a full disk${noMount === undefined ? '' : ` (not tried: ${noMount})`}`,
  () => {
    it('show what was recorded and answer it again; what is new is refused with the reason', async () => {
      await onDisk(async (toolexec, journal) => {
        const args = ['run', '-', '--yes', '--journal', journal, '--conversation', 'c'];
        const stdin = JSON.stringify(message(['bash', { command: 'echo hello' }]));
        const first = await toolexec.run(args, { stdin });
        fill(join(journal, '..'));
        for (const args of [['list'], ['show', 'toolu_1'], ['export'], ['verify'], ['recover']]) {
          const ran = await toolexec.run(['journal', ...args, '--journal', journal]);
          expect({ args, ...ran }).toMatchObject({ code: 0, stderr: '' });
        }
        expect((await toolexec.run(args, { stdin })).stdout).toBe(first.stdout);
        const refused = await toolexec.run(args, { stdin: stdin.replace('toolu_1', 'toolu_2') });
        expect(refused).toMatchObject({
          code: 1,
          stdout: expect.stringContaining('could not be recorded'),
          stderr: expect.stringContaining('the disk is full'),
        });
      });
    });
  },
);

/** Leaves no byte free. */
function fill(place: string): void {
  const file = openSync(join(place, 'filler'), 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch {
    closeSync(file);
  }
}

/** A call that a killed process has begun and not ended. */
async function leaveCall({ root }: Toolexec, journal: string): Promise<void> {
  const calls = [{ id: 'left', name: 'write_file', args: { path: 'f', content: 'text' } }];
  await runUntilKilled({ root, journal, at: 'after claim', calls });
}

async function onDisk(use: (toolexec: Toolexec, journal: string) => Promise<void>): Promise<void> {
  const toolexec = new Toolexec();
  try {
    const disk = join(toolexec.folder, 'disk');
    mkdirSync(disk);
    mount('-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk);
    mounted.push(disk);
    await use(toolexec, join(disk, 'journal.db'));
  } finally {
    for (const place of mounted.splice(0)) unmount(place);
    toolexec.remove();
  }
}

/** Each of the four commands ends correctly, and the files stay unchanged. */
async function lookAt(
  toolexec: Toolexec,
  journal: string,
  callId: string,
): Promise<Record<'list' | 'show', Ran>> {
  const before = contentOf(join(journal, '..'));
  const look = async (...args: readonly string[]): Promise<Ran> => {
    const ran = await toolexec.run(['journal', ...args, '--journal', journal]);
    expect({ args, ...ran }).toMatchObject({ code: 0, stderr: '' });
    return ran;
  };
  const list = await look('list');
  const show = await look('show', callId);
  const exported = (await look('export')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(exported).toContainEqual(expect.objectContaining({ kind: 'call', callId }));
  expect((await look('verify')).stdout).toContain('intact');
  expect(contentOf(join(journal, '..'))).toEqual(before);
  return { list, show };
}

function contentOf(place: string): ReadonlyMap<string, string> {
  const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(files.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'base64')]));
}

/** Why mounting is impossible here; undefined if it is possible. */
function whyNoMount(): string | undefined {
  if (process.platform !== 'linux') return 'tmpfs is of Linux';
  if (process.getuid?.() !== 0) return 'only root may mount';
  const place = mkdtempSync(join(tmpdir(), 'toolexec-media-'));
  try {
    mount('-t', 'tmpfs', 'tmpfs', place);
    unmount(place);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(place, { recursive: true });
  }
}

function makeReadOnly(place: string): void {
  mount('-o', 'remount,ro', place);
}

function mount(...args: readonly string[]): void {
  const { error, status, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
  if (error !== undefined) throw new Error('mount is not installed');
  if (status !== 0) throw new Error(`mount failed: ${stderr.trim()}`);
}

function unmount(place: string): void {
  spawnSync('umount', ['-l', place]);
}
