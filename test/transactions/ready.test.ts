import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolResult } from '../../src/contract/call.js';
import type { Executor } from '../../src/contract/executor.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();

let around: string;
let root: string;
let executor: Executor;
beforeEach(() => {
  around = realpathSync(mkdtempSync(join(tmpdir(), 'ready-')));
  root = join(around, 'root');
  mkdirSync(root);
  executor = createExecutor({
    root,
    approver: null,
    journal: join(around, 'journal.db'),
    sandbox: { os: 'required', transactions: 'required' },
  });
});
afterEach(async () => {
  await executor.close();
  removeTree(around);
});

/** Directories of transactions that no command has made real yet. */
const unused = (): string[] => {
  const place = join(around, 'journal.db-transactions');
  return readdirSync(place)
    .filter((name) => /^transaction-[0-9a-f-]+$/.test(name) && !existsSync(join(place, name, 'done.json')))
    .map((name) => join(place, name));
};

/** Processes of ours that hold mounts: their parent is this one. */
const views = (): number[] =>
  execFileSync('ps', ['-o', 'pid=,args=', '--ppid', `${process.pid}`], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes('echo ready; read'))
    .map((line) => Number.parseInt(line, 10));

const bash = (command: string): Promise<ToolResult> => executor.execute('bash', { command });

/** Two commands make a program that is worth it; the directory of what is mounted for the third. */
async function mounted(): Promise<string> {
  await bash('cat * 2>/dev/null; true');
  await bash('ls -A');
  await expect.poll(views).toHaveLength(1);
  return unused()[0] ?? '';
}

describe.skipIf(WHY_NOT !== '')(`what is mounted before a command needs it${WHY_NOT}`, () => {
  it('is used once, and shows what others have changed meanwhile', async () => {
    writeFileSync(join(root, 'log'), 'one\n');
    const ready = await mounted();
    appendFileSync(join(root, 'log'), 'two\nthree\n');
    writeFileSync(join(root, 'new'), 'x');
    const result = await bash('cp log copy; ls; stat -c %y . >time');
    expect(result.output).toBe('copy\nlog\nnew\n');
    expect(existsSync(join(ready, 'done.json'))).toBe(true);
    expect(readFileSync(join(root, 'copy'), 'utf8')).toBe('one\ntwo\nthree\n');
    // The next one is another.
    await expect.poll(unused).toHaveLength(1);
    expect(unused()).not.toContain(ready);
  });

  it('is not used where something is hidden since, or the root is another directory', async () => {
    mkdirSync(join(root, 'api'));
    await mounted();
    writeFileSync(join(root, 'api', '.env'), 'SECRET');
    expect((await bash('ls -A api; cat api/.env 2>/dev/null; true')).output).not.toMatch(/env|SECRET/);
    await mounted();
    renameSync(root, join(around, 'moved'));
    mkdirSync(root);
    expect((await bash('ls -A; echo x >made')).metadata.changes).toMatchObject({ created: ['made'] });
    expect(readdirSync(root)).toEqual(['made']);
    expect(readdirSync(join(around, 'moved'))).toEqual(['api']);
  });

  it('is done without where its process was killed; nothing of it is left at the end', async () => {
    await mounted();
    for (const pid of views()) process.kill(pid, 'SIGKILL');
    await expect.poll(views).toEqual([]);
    expect(await bash('echo x >made; ls')).toMatchObject({ output: 'made\n' });
    expect(readdirSync(root)).toEqual(['made']);
    await mounted();
    await executor.close();
    expect(views()).toEqual([]);
    expect(unused()).toEqual([]);
  });

  it('keeps what commands beside it change apart from each other', async () => {
    await mounted();
    const results = await Promise.all([1, 2, 3].map((n) => bash(`echo ${n} >f${n}; sleep 0.1; ls`)));
    expect(results.map(({ metadata }) => Object(metadata.changes).created)).toEqual([['f1'], ['f2'], ['f3']]);
    expect(readdirSync(root).sort()).toEqual(['f1', 'f2', 'f3']);
  });
});
