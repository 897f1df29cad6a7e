import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Executor, UndoReport } from '../../src/contract/executor.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();

const SET_UP =
  'git init -q -b main; git config user.name me; git config user.email me@here; echo 1 >a; git add a; git commit -qm one';

/** Empty for a repository that is whole, and whose working tree equals the commit. */
const CHECK = 'git fsck --strict 2>&1 | grep -v dangling; git status --porcelain';

describe.skipIf(WHY_NOT !== '')(`an undo of git commands${WHY_NOT}`, () => {
  let around = '';
  let root = '';
  let executor: Executor;

  beforeEach(() => {
    around = realpathSync(mkdtempSync(join(tmpdir(), 'undo-git-')));
    root = join(around, 'root');
    mkdirSync(root);
    executor = createExecutor({
      root,
      approver: null,
      policy: null,
      journal: join(around, 'journal', 'journal.db'),
      sandbox: { os: 'required', transactions: 'required' },
    });
  });
  afterEach(async () => {
    await executor.close();
    removeTree(around);
  });

  function outside(command: string): string {
    return execFileSync('/bin/sh', ['-c', `${command}; true`], { cwd: root, encoding: 'utf8' });
  }

  async function undoOf(command: string, since: string): Promise<UndoReport> {
    const id = `call-${command}`;
    const [result] = await executor.run([{ id, name: 'bash', args: { command } }]);
    expect(result?.error).toBeUndefined();
    outside(since);
    return executor.undo(id);
  }

  it('bug: git status refreshed the index, which then named objects that the undo had removed', async () => {
    outside(SET_UP);
    const report = await undoOf('echo 2 >>a; git commit -qam two', 'git status');
    expect(report.skipped).toEqual([]);
    expect(outside('git log --format=%s; cat a')).toBe('one\n1\n');
    expect(outside(CHECK)).toBe('');
    outside('git status');
    expect((await executor.undo(report.undoId ?? '')).skipped).toEqual([]);
    expect(outside('git log --format=%s; cat a')).toBe('two\none\n1\n2\n');
    expect(outside(CHECK)).toBe('');
  });

  it('bug: the objects of a commit were removed although a person had made a branch on it', async () => {
    outside(SET_UP);
    const report = await undoOf('echo 2 >>a; git commit -qam two', 'git branch keep');
    expect(outside('git log --format=%s main; cat a; git log --format=%s keep')).toBe('one\n1\ntwo\none\n');
    expect(outside(CHECK)).toBe('');
    const reasons = new Set(report.skipped.map(({ reason }) => reason));
    expect([...reasons]).toEqual([
      'git may need it: another program has changed the repository since',
      'something in it stays',
    ]);
  });

  it('bug: and although a person had made the next commit', async () => {
    outside(SET_UP);
    await undoOf('echo 2 >>a; git commit -qam two', 'echo b >b; git add b; git commit -qm three');
    expect(outside('git log --format=%s; git show HEAD~1:a')).toBe('three\ntwo\none\n1\n2\n');
    expect(outside('git fsck --strict 2>&1 | grep -v dangling')).toBe('');
  });

  it('bug: and although a branch of a bare repository that the command had pushed to needed them', async () => {
    outside(`${SET_UP}; git clone -q --bare . o.git`);
    const report = await undoOf(
      'echo 2 >>a; git commit -qam two; git push -q ./o.git main',
      'git -C o.git branch keep main',
    );
    expect(outside('git -C o.git log --format=%s main; git -C o.git log --format=%s keep')).toBe(
      'one\ntwo\none\n',
    );
    expect(outside('git log --format=%s; git -C o.git fsck --strict 2>&1 | grep -v dangling')).toBe('one\n');
    expect(report.skipped.every(({ path }) => path.startsWith(join(root, 'o.git/objects')))).toBe(true);
  });

  it('removes a repository that the command created, and keeps one that a person has used since', async () => {
    const make = (name: string): string => `mkdir ${name}; cd ${name}; ${SET_UP}`;
    const report = await undoOf(make('n'), 'git -C n status');
    expect([report.skipped, outside('ls -A')]).toEqual([[], '']);
    await undoOf(
      make('m'),
      'cd m; echo b >b; git add b; git -c user.name=me -c user.email=me commit -qm two',
    );
    expect(outside('git -C m log --format=%s; git -C m fsck --strict 2>&1 | grep -v dangling')).toBe(
      'two\none\n',
    );
  });

  it('bug: a hidden file that git had replaced stayed', async () => {
    outside(
      `${SET_UP}; echo A=1 >.env; git add .env; git commit -qm env; git checkout -qb two; echo A=2 >.env; git commit -qam two; git checkout -q main`,
    );
    const report = await undoOf('git checkout -q two', 'git status');
    expect([report.skipped, outside(`cat .env; ${CHECK}; git branch --show-current`)]).toEqual([
      [],
      'A=1\nmain\n',
    ]);
  });
});
