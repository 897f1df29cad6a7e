import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Executor } from '../../src/contract/executor.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { useKeptApart, whyNoTransactions } from './kept-apart.js';
import { placesHere } from './plan-maker.js';

const why = await whyNoTransactions();
const here = useKeptApart();

describe.skipIf(why !== '')(`pipes, sockets and links in a root${why}`, () => {
  it('of the host, next to changed and removed files, make no command hang', async () => {
    here.outside('mkfifo p .git .env; mkdir d; mkfifo d/p; ln -s p l');
    const { changes, discarded } = await here.run('echo x >a; rm -r d; mkdir e');
    expect(discarded).toBeUndefined();
    expect(changes).toMatchObject({ created: ['a', 'e/'], deleted: ['d/', 'd/p'], refused: [] });
  });

  it('that a command creates are not committed, and refused with a reason', async () => {
    const { changes } = await here.run('mkfifo p; echo x >a; mkdir d; mkfifo d/p');
    expect(changes?.created).toEqual(['a', 'd/']);
    expect(changes?.refused).toEqual([
      { path: 'd/p', reason: 'it is neither a file, a directory nor a link' },
      { path: 'p', reason: 'it is neither a file, a directory nor a link' },
    ]);
  });

  it("a link in place of a hidden file's directory is reported, and nothing is kept", async () => {
    mkdirSync(`${here.root}/conf`);
    writeFileSync(`${here.root}/conf/.env`, 'S=1');
    const { changes, discardedBy } = await here.run('rm -rf conf; ln -s /etc conf; echo x >a');
    expect(discardedBy).toBe('rules');
    expect(changes?.refused.map(({ path }) => path)).toEqual(['conf/.env', 'conf']);
    expect(here.outside('cat conf/.env; ls -A')).toBe('S=1conf\n');
  });

  it('the mode of a root that a command changes is committed, listed, and visible to the host', async () => {
    const before = statSync(here.root).mode & 0o777;
    const { changes, discarded } = await here.run('chmod 711 .; echo x >x');
    expect(discarded).toBeUndefined();
    expect([changes?.modified, changes?.created]).toEqual([['./'], ['x']]);
    expect(before).not.toBe(0o711);
    expect(statSync(here.root).mode & 0o777).toBe(0o711);
  });
});

/** With the state after the undo; `far`: across two file systems, where a pipe cannot be kept. */
interface Case {
  readonly name: string;
  readonly before: string;
  readonly command: string;
  readonly since?: string;
  readonly near: string;
  readonly far?: string;
}

const CASES: readonly Case[] = [
  { name: 'a pipe that is removed', before: 'mkfifo p', command: 'rm p', near: 'p p', far: '' },
  {
    name: 'a socket that is removed',
    before: "node -e \"require('net').createServer().listen('s', () => process.kill(process.pid, 9))\" || :",
    command: 'rm s',
    near: 's s',
    far: '',
  },
  {
    name: 'a tree with a pipe that is removed',
    before: 'mkdir d; mkfifo d/p; echo x >d/x',
    command: 'rm -r d',
    near: 'd d,d/p p,d/x f',
    far: 'd d,d/x f',
  },
  {
    name: 'a pipe that becomes a file',
    before: 'mkfifo p',
    command: 'rm p; echo x >p',
    near: 'p p',
    far: 'p f',
  },
  {
    name: 'a changed file that becomes a pipe',
    before: 'echo a >a',
    command: 'echo b >a',
    since: 'rm a; mkfifo a',
    near: 'a p',
  },
  {
    name: 'a new file that becomes a pipe',
    before: ':',
    command: 'echo n >n',
    since: 'rm n; mkfifo n',
    near: 'n p',
  },
  {
    name: 'a removed file that becomes a pipe',
    before: 'echo a >a',
    command: 'rm a',
    since: 'mkfifo a',
    near: 'a p',
  },
  {
    name: 'a renamed file whose old name becomes a pipe',
    before: 'echo a >a',
    command: 'mv a b',
    since: 'mkfifo a',
    near: 'a p,b f',
  },
  {
    name: 'a new directory that a pipe is put into',
    before: ':',
    command: 'mkdir d; echo x >d/x',
    since: 'mkfifo d/p',
    near: 'd d,d/p p',
  },
];

describe.skipIf(why !== '').each(placesHere())(
  `pipes, sockets and devices hang no commit and no undo, on %s${why}`,
  (places) => {
    let around: string;
    let root: string;
    let executor: Executor;
    beforeAll(() => {
      around = realpathSync(mkdtempSync(join(tmpdir(), 'special-')));
      root = realpathSync(
        mkdtempSync(places === 'one file system' ? join(around, 'root-') : '/dev/shm/special-'),
      );
      executor = createExecutor({
        ...{ root, approver: null, journal: join(around, 'journal.db') },
        sandbox: { os: 'required', transactions: 'required' },
      });
    });
    afterAll(async () => {
      await executor.close();
      for (const path of [around, root]) removeTree(path);
    });

    async function check(id: string, cases: readonly Case[]): Promise<void> {
      const directories = cases.map((_, index) => `${id}-${index}`);
      const inEach = (part: (one: Case) => string): string =>
        cases.map((one, index) => `(cd ${directories[index]}; ${part(one)})`).join('; ');
      const outside = (script: string): string =>
        execFileSync('/bin/sh', ['-c', script], { cwd: root, encoding: 'utf8' });
      outside(`mkdir ${directories.join(' ')}; ${inEach(({ before }) => before)}`);
      const call = { id, name: 'bash', args: { command: inEach(({ command }) => command) } };
      expect((await executor.run([call]))[0]).toMatchObject({ success: true });
      outside(inEach(({ since = ':' }) => since));
      await executor.undo(id);
      const look = 'find . -mindepth 1 -printf "%P %y\\n" | LC_ALL=C sort | paste -sd, -';
      const found = outside(inEach(() => look))
        .split('\n')
        .slice(0, -1);
      const wanted = cases.map(({ near, far = near }) => (places === 'two file systems' ? far : near));
      expect(found).toEqual(wanted);
    }

    it('all of them in one command', () => check('all', CASES));

    it.each(CASES.map((one, index) => ({ ...one, id: `c${index}` })))(
      '$name',
      { tags: ['soak'] },
      ({ id, ...one }) => check(id, [one]),
    );
  },
);
