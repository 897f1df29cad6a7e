import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createExecutor } from '../../src/executor/create-executor.js';
import { makeKeptApart, useKeptApart, whyNoTransactions } from './kept-apart.js';
import { usePlace } from './use-place.js';

const WHY_NOT = await whyNoTransactions();

const here = useKeptApart();
const place = usePlace();

/** A program of the host that keeps files open for appending; `write` appends a line to each. */
async function holdOpen(cwd: string, ...files: readonly string[]) {
  const opened = files.map((file, index) => `exec ${index + 3}>>${file}`).join('; ');
  const written = files.map((_, index) => `echo later >&${index + 3}`).join('; ');
  const child: ChildProcess = spawn('/bin/sh', ['-c', `${opened}; echo open; read go; ${written}`], {
    cwd,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data');
  return {
    async write(): Promise<void> {
      child.stdin?.end('go\n');
      await once(child, 'exit');
    },
  };
}

describe.skipIf(WHY_NOT !== '')(`a file that another program has open for writing${WHY_NOT}`, () => {
  it('bug: a command that only opened it replaced it, and what the program wrote later was lost', async () => {
    here.outside('echo 1 >a; echo 1 >b; sleep 0.02');
    const holder = await holdOpen(here.root, 'a');
    const outcome = await here.run('exec 3<>a 4<>b; cat a; echo new >c');
    expect(outcome).toMatchObject({ exitCode: 0, changes: { created: ['c'], modified: [] } });
    await holder.write();
    expect(here.outside('cat a')).toBe('1\nlater\n');
  });

  it('bug: a command that changed it succeeded, and what the program wrote later was lost', async () => {
    here.outside('echo 1 >a');
    const holder = await holdOpen(here.root, 'a');
    const outcome = await here.run('echo 2 >a; echo new >c');
    expect(outcome).toMatchObject({ exitCode: 0, discardedBy: 'conflict', changes: { created: [] } });
    expect(outcome.discarded).toBe('another program has "a" open for writing');
    expect(outcome.changes?.conflicts).toMatchObject([
      { path: 'a', reason: expect.stringMatching(/^sh \(process \d+\) has it open for writing/) },
    ]);
    // The program keeps it open, so running the command again does not help.
    expect(outcome.reruns).toBeUndefined();
    await holder.write();
    expect(here.outside('cat a; ls')).toBe('1\nlater\na\n');
  });

  it('may be removed, as without a sandbox, unless SQLite would not have removed it there', async () => {
    here.outside('echo 1 >log; echo 1 >x.db; echo 1 >x.db-wal; echo 1 >x.db-shm');
    await holdOpen(here.root, 'log', 'x.db', 'x.db-wal', 'x.db-shm');
    expect(await here.run('rm log')).toMatchObject({ changes: { deleted: ['log'] } });
    const outcome = await here.run('rm x.db-wal x.db-shm');
    expect(outcome.changes?.conflicts.map(({ path }) => path)).toEqual(['x.db-shm', 'x.db-wal']);
    expect(here.outside('ls')).toBe('x.db\nx.db-shm\nx.db-wal\n');
  });

  it.each([
    ['mv log log.1', '', 'log'],
    ['mv log log.1 && touch log', '', 'log'],
    ['mv log other', 'echo 1 >other', 'log'],
    ['mv logs old', 'mkdir -p logs/today; mv log logs/today', 'logs/today/log'],
  ])(
    'bug: `%s` left a copy in its place, and what the program wrote later was lost',
    async (move, before, open) => {
      here.outside(`echo first >log; ${before || ':'}`);
      const holder = await holdOpen(here.root, open);
      const outcome = await here.run(`${move}; echo new >c`);
      expect(outcome).toMatchObject({ discardedBy: 'conflict', changes: { created: [] } });
      const conflicts = outcome.changes?.conflicts ?? [];
      expect(conflicts.find(({ path }) => path === open)?.reason).toMatch(
        /^sh \(process \d+\) has it open for writing/,
      );
      for (const { path } of conflicts) expect(open.startsWith(path)).toBe(true);
      await holder.write();
      expect(here.outside(`cat ${open}`)).toBe('first\nlater\n');
      const again = await here.run(`${move}; echo new >c`);
      expect(again.changes).toMatchObject({ created: expect.arrayContaining(['c']), conflicts: [] });
    },
  );

  it('stays with its whole directory where the rest is to be kept', async () => {
    const there = makeKeptApart({ rules: { onConflict: 'keep_rest' } });
    onTestFinished(() => there.remove());
    there.outside('mkdir logs; echo 1 >logs/a; echo 2 >logs/b');
    await holdOpen(there.root, 'logs/a');
    const outcome = await there.run('mv logs old; echo new >c');
    expect(outcome.changes).toMatchObject({
      deleted: [],
      conflicts: [{ path: 'logs/a' }, { path: 'logs/' }],
    });
    expect(there.outside('cat logs/* c')).toBe('1\n2\nnew\n');
  });

  it('is the only path that is left out where the rest is to be kept', async () => {
    const there = makeKeptApart({ rules: { onConflict: 'keep_rest' } });
    onTestFinished(() => there.remove());
    there.outside('echo 1 >a');
    await holdOpen(there.root, 'a');
    const outcome = await there.run('echo 2 >a; echo new >c');
    expect(outcome.changes).toMatchObject({ created: ['c'], modified: [], conflicts: [{ path: 'a' }] });
    expect(there.outside('cat a c')).toBe('1\nnew\n');
  });

  it('is skipped by an undo', async () => {
    place.outside('echo 1 >a; echo 1 >b');
    await using executor = createExecutor({
      ...{ root: place.root, journal: place.journal, approver: null, policy: null },
      sandbox: { os: 'required', transactions: 'required' },
    });
    await executor.run([{ id: 'c', name: 'bash', args: { command: 'echo 2 >a; echo 2 >b' } }]);
    const holder = await holdOpen(place.root, 'a');
    expect(await executor.undo('c')).toMatchObject({
      restored: [expect.stringMatching(/\/b$/)],
      skipped: [{ path: expect.stringMatching(/\/a$/), reason: expect.stringMatching(/open for writing/) }],
    });
    await holder.write();
    expect(place.outside('cat a b')).toBe('2\nlater\n1\n');
  });
});

describe.skipIf(WHY_NOT !== '')(`a file that a command gives a second name${WHY_NOT}`, () => {
  it('is one file with two names afterwards', async () => {
    here.outside('echo 1 >a');
    expect((await here.run('ln a b')).changes).toMatchObject({ created: ['b'], modified: ['a'] });
    here.outside('echo 2 >>a');
    expect(here.outside('cat b')).toBe('1\n2\n');
  });
});
