// Runs each scenario on a small disk as its root. Prints the outcomes of the commands as JSON.
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Executor } from '../../src/contract/executor.js';
import { createExecutor } from '../../src/executor/create-executor.js';

const [around = '', ...scenarios] = process.argv.slice(2);
let root = '';
let executor: Executor;

interface Told {
  readonly output: string;
  readonly error: string | undefined;
  readonly changes: unknown;
}

async function bash(command: string, id = 'first'): Promise<Told> {
  const [result] = await executor.run([{ id, name: 'bash', args: { command } }]);
  return { output: result?.output ?? '', error: result?.error?.message, changes: result?.metadata.changes };
}

const remount = (how: 'ro' | 'rw'): void => void execFileSync('mount', ['-o', `remount,${how}`, root]);

/** By name: how each file begins. */
const files = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'filler')
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(root.length + 1), readFileSync(path, 'utf8').slice(0, 5)]),
  );

const CHANGE = 'printf new >a; mkdir d; printf in >d/in; rm gone';
const LARGE =
  'head -c 900000 /dev/zero | tr "\\0" x >large; mkdir -p d; cp large d/in; printf new >a; rm gone';

const SCENARIOS: Readonly<Record<string, () => Promise<unknown>>> = {
  async 'read-only'() {
    remount('ro');
    const first = await bash(CHANGE);
    const between = files();
    remount('rw');
    const second = await bash('cat a d/in', 'second');
    return { first, between, second, end: files() };
  },
  async undone() {
    remount('ro');
    await bash(CHANGE);
    remount('rw');
    const undone = await executor.undo('first');
    await bash('ls', 'second');
    return { undone, end: files() };
  },
  async full() {
    writeFileSync(join(root, 'filler'), Buffer.alloc(2_500_000));
    return { first: await bash(LARGE), between: files() };
  },
  async 'room-again'() {
    rmSync(join(root, 'filler'));
    return { second: await bash('wc -c <large; wc -c <d/in', 'second'), end: files() };
  },
  async left() {
    writeFileSync(join(root, 'filler'), Buffer.alloc(2_500_000));
    await bash(LARGE);
    const undone = await promisify(execFile)(process.execPath, [
      ...process.argv.slice(1, 3),
      'undone-meanwhile',
    ]);
    return { undone: JSON.parse(undone.stdout), between: files() };
  },
  async 'undone-meanwhile'() {
    return executor.undo('first').catch((error: Error) => error.message);
  },
  async 'undone-elsewhere'() {
    const undone = await executor.undo('first');
    rmSync(join(root, 'filler'));
    await bash('ls', 'second');
    return { undone, end: files() };
  },
  async mounted() {
    const preview = await executor.preview([{ id: 'one', name: 'bash', args: { command: CHANGE } }]);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=700', 'none', root]);
    writeFileSync(join(root, 'a'), 'other');
    const [result] = await preview.commit();
    const over = files();
    execFileSync('umount', [root]);
    return { code: result?.error?.code, error: result?.error?.message, over, end: files() };
  },
  async preview() {
    writeFileSync(join(root, 'filler'), Buffer.alloc(2_500_000));
    const preview = await executor.preview([
      { id: 'one', name: 'bash', args: { command: LARGE } },
      { id: 'two', name: 'write_file', args: { path: 'd/written', content: 'x'.repeat(800_000) } },
      { id: 'three', name: 'write_file', args: { path: 'small', content: 'small' } },
      { id: 'four', name: 'read_file', args: { path: 'a' } },
    ]);
    const results = await preview.commit();
    const between = files();
    rmSync(join(root, 'filler'));
    await bash('ls', 'second');
    return {
      results: results.map(({ success, output, error, metadata }) => ({
        ...{ success, output, error: error?.message, changes: metadata.changes },
      })),
      between,
      end: files(),
    };
  },
};

/** The disks of scenarios that continue another one. */
const DISKS: Readonly<Record<string, string>> = {
  'room-again': 'full',
  'undone-meanwhile': 'left',
  'undone-elsewhere': 'left',
};

const told: Record<string, unknown> = {};
for (const scenario of scenarios) {
  const disk = DISKS[scenario] ?? scenario;
  root = join(around, disk);
  if (disk === scenario) for (const name of ['a', 'gone']) writeFileSync(join(root, name), 'old');
  const sandbox = { os: 'required', transactions: 'required' } as const;
  executor = createExecutor({ root, journal: join(around, 'state', `${disk}.db`), approver: null, sandbox });
  told[scenario] = await SCENARIOS[scenario]?.();
  await executor.close();
}
console.log(JSON.stringify(told));
