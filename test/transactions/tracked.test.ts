import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { useKeptApart, whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();

const here = useKeptApart();

const ME = 'git config user.name me; git config user.email me@here';

const out = async (command: string): Promise<string> => {
  const { stdout, stderr } = await here.run(command);
  return stdout.head + stderr.head;
};
const refused = async (command: string): Promise<readonly string[]> => {
  const { changes } = await here.run(command);
  return changes?.refused.map(({ path }) => path) ?? ['nothing was looked at'];
};
const put = (path: string, text: string): void => writeFileSync(join(here.root, path), text);
const taken = (path: string): string => readFileSync(join(here.root, path), 'utf8');

describe.skipIf(WHY_NOT !== '')(`a hidden file that git tracks${WHY_NOT}`, () => {
  beforeEach(() => {
    here.outside(
      `git init -q -b main; ${ME}; mkdir api; echo one >api/.env; echo a >a; git add -Af; git commit -qm one;` +
        'git checkout -qb other; echo two >api/.env; echo token >.npmrc; git add -f .npmrc; git commit -qam two; git checkout -q main',
    );
  });

  it('shows its committed version, whatever the host has there, and is not a change', async () => {
    expect(await out('cat api/.env; git status --porcelain')).toBe('one\n');
    put('api/.env', 'mine');
    for (const command of [
      'cat api/.env',
      'git status --porcelain; git diff; cat api/.env',
      'echo b >>a; git add -A; git commit -qm b; cat api/.env',
      'echo c >>a; git stash -q; git stash pop -q; git commit -qam c; cat api/.env',
      'touch api/.env; cp -p api/.env x; cat x >api/.env; rm x; cat api/.env',
    ]) {
      const { stdout, stderr, changes } = await here.run(command);
      expect([command, stdout.head + stderr.head, changes?.refused]).toEqual([command, 'one\n', []]);
    }
    expect(taken('api/.env')).toBe('mine');
    expect(here.outside('git status --porcelain; git log --format=%s; git show HEAD:api/.env')).toBe(
      ' M api/.env\nc\nb\none\none\n',
    );
    expect(await refused('chmod 600 api/.env')).toEqual(['api/.env']);
    expect(await refused('echo one >>api/.env')).toEqual(['api/.env']);
  });

  it('does not make git write its index', { tags: ['soak'] }, async () => {
    here.outside('touch -d 2020-01-01 a api/.env; git status');
    const { changes } = await here.run('git status --porcelain; git diff');
    expect(changes?.modified).toEqual([]);
  });

  eachOf(
    [
      ['git checkout -q other', 'two\n', true],
      ['git merge -q other', 'two\n', true],
      ['git switch -q -c x && git rebase -q other', 'two\n', true],
      ['git pull -q . other', 'two\n', true],
      ['git cherry-pick other >/dev/null', 'two\n', true],
      ['git checkout -q other -- api .npmrc', 'two\n', true],
      ['git checkout -q other && git checkout -q main', 'one\n', false],
      ['git reset -q --hard other', 'two\n', true],
    ],
    1,
  )('follows git from one committed version to another: %s', async (command, env, hasToken) => {
    const { exitCode, changes } = await here.run(command);
    expect([exitCode, changes?.refused, changes?.conflicts]).toEqual([0, [], []]);
    expect(taken('api/.env')).toBe(env);
    expect(here.outside('git status --porcelain -uno; ls .npmrc 2>/dev/null || true')).toMatch(
      hasToken ? /\.npmrc/ : /^$/,
    );
    expect(await out('cat api/.env; ls -A .npmrc 2>/dev/null || true')).toBe(
      env + (hasToken ? '.npmrc\n' : ''),
    );
  });

  it('disappears if git switches to a branch without it, and returns', { tags: ['soak'] }, async () => {
    here.outside('git checkout -q other');
    expect(await refused('git checkout -q main')).toEqual([]);
    expect(here.outside('git status --porcelain; ls -A')).toBe('.git\na\napi\n');
    expect(await refused('git checkout -q other')).toEqual([]);
    expect(here.outside('git status --porcelain; cat .npmrc')).toBe('token\n');
    expect(await refused('rm .npmrc')).toEqual(['.npmrc']);
    expect(taken('.npmrc')).toBe('token\n');
  });

  it('keeps the version of the host if it differs from the committed one', { tags: ['soak'] }, async () => {
    put('api/.env', 'mine');
    expect(await refused('git checkout -q other')).toEqual(['api/.env']);
    expect(taken('api/.env')).toBe('mine');
  });

  it('is not changed to a version that no commit has', { tags: ['soak'] }, async () => {
    expect(await refused('echo evil >api/.env; git add -f api/.env')).toEqual(['api/.env']);
    expect(await refused('echo evil >api/.env; git update-index --assume-unchanged api/.env')).toEqual([
      'api/.env',
    ]);
    expect(await refused('git show other:.npmrc >new.pem; git add -f new.pem')).toEqual(['new.pem']);
    expect(await refused('ln -sf /etc/passwd api/.env')).toEqual(['api/.env']);
    expect(taken('api/.env')).toBe('one\n');
  });

  it('never shows a version that is only staged: the one of HEAD, or none', async () => {
    put('api/.env', 'STAGED');
    put('new.pem', 'STAGED');
    put('later.pem', 'LATER');
    here.outside('git add -Af api new.pem; git add -fN later.pem');
    expect(await out('cat api/.env; cat new.pem later.pem')).toBe(
      'one\ncat: new.pem: No such file or directory\ncat: later.pem: No such file or directory\n',
    );
    await here.run('echo b >>a; git add -A; git commit -qm b');
    expect(here.outside('git show --stat --format=%s HEAD; git show HEAD:api/.env')).toMatch(
      /^b\n\n a \| 1 \+\n 1 file changed, 1 insertion\(\+\)\none\n$/,
    );
    expect([taken('api/.env'), taken('new.pem')]).toEqual(['STAGED', 'STAGED']);
  });

  it('shows a staged version if a commit has it, as during a merge', async () => {
    here.outside('git merge -q --no-commit --no-ff other');
    expect(await out('cat api/.env; git status --porcelain')).toBe('two\nA  .npmrc\nM  api/.env\n');
    await here.run('git add -A; git commit -qm merged');
    expect(here.outside('git show HEAD:api/.env HEAD:.npmrc; git status --porcelain')).toBe('two\ntoken\n');
  });

  it('is inaccessible while it is in conflict, so that no side is chosen unseen', async () => {
    here.outside('echo three >api/.env; git commit -qam three; git merge -q other || true');
    expect(await out('cat api/.env; git add -A; git commit -qm x')).toMatch(/denied.*\n.*denied/);
    expect(here.outside('git log -1 --format=%s; git status --porcelain')).toBe(
      'three\nA  .npmrc\nUU api/.env\n',
    );
  });

  it('is hidden in a repository without a commit', async () => {
    here.outside('rm -rf .git; git init -q; git add -Af');
    expect(await out('cat api/.env; git status --porcelain')).toMatch(
      /A {2}a\nAD api\/\.env\ncat: api\/\.env: No such file/,
    );
  });

  eachOf(
    [
      [
        'line ends',
        'printf "*.env text eol=crlf\\n" >.gitattributes; printf "x\\r\\ny\\r\\n" >api/.env',
        'x\r\ny\r\n',
      ],
      [
        'an encoding',
        'printf "*.env working-tree-encoding=UTF-16LE\\n" >.gitattributes; printf "x\\0" >api/.env',
        'x\0',
      ],
      [
        'a filter',
        'git config filter.r.clean "tr a-z b-za"; git config filter.r.smudge "tr b-za a-z"; printf "*.env filter=r\\n" >.gitattributes; echo abc >api/.env',
        'abc\n',
      ],
    ],
    1,
  )('is converted as git does it: %s', async (_, make, text) => {
    here.outside(`${make}; git add -Af; git commit -qm converted`);
    put('api/.env', 'mine');
    expect(
      await out('cat api/.env; git status --porcelain; git add --renormalize .; git status --porcelain'),
    ).toBe(text);
  });

  it('is inaccessible if its filter fails, but other files are not', { tags: ['soak'] }, async () => {
    here.outside(
      'git config filter.r.smudge false; git config filter.r.clean cat; git config filter.r.required true;' +
        'printf "*.env filter=r\\n" >.gitattributes; echo x >api/x.pem; git add -Af; git commit -qm failing',
    );
    expect(await out('cat api/x.pem; cat api/.env')).toBe('x\ncat: api/.env: Permission denied\n');
  });

  it('runs no filter outside a sandbox', async () => {
    here.outside(
      `git config filter.r.smudge "touch ${here.around}/evil; cat ../../*/*; cat"; printf "*.env filter=r\\n" >.gitattributes; echo y >api/.env; echo OTHER >other.pem; git add -f .gitattributes api; git commit -qm evil`,
    );
    expect(await out('cat api/.env')).toBe('y\n');
    expect(here.outside(`ls ${here.around}`)).not.toContain('evil');
  });

  eachOf(
    [
      ['split index', 'git update-index --split-index'],
      ['version 4', 'git update-index --index-version=4'],
      ['sparse index', 'git sparse-checkout set --cone --sparse-index api'],
      ['skip-worktree', 'git update-index --skip-worktree api/.env'],
      ['packed refs', 'git pack-refs --all; git gc -q'],
    ],
    1,
  )('is found in every form of a repository: %s', async (_, make) => {
    here.outside(make);
    put('api/.env', 'mine');
    expect(await out('cat api/.env; git status --porcelain')).toBe('one\n');
  });

  it('is found in a repository with SHA-256, in a submodule and in another working tree', {
    tags: ['soak'],
  }, async () => {
    here.outside(
      `rm -rf .git; git init -q --object-format=sha256 -b main; ${ME}; git add -Af; git commit -qm one; git worktree add -q tree`,
    );
    put('api/.env', 'mine');
    put('tree/api/.env', 'mine too');
    expect(await out('cat api/.env tree/api/.env; git -C tree status --porcelain')).toBe('one\none\n');
    here.outside(
      `rm -rf tree; git worktree prune; git init -q --object-format=sha256 -b main lib; cd lib; ${ME}; echo lib >.env; git add -f .env; git commit -qm lib; cd ..; git -c protocol.file.allow=always submodule --quiet add ./lib sub`,
    );
    put('sub/.env', 'mine');
    expect(await out('cat sub/.env; git -C sub status --porcelain')).toBe('lib\n');
  });

  it('keeps the mode and time of the host, so programs see no difference', async () => {
    chmodSync(join(here.root, 'api/.env'), 0o600);
    here.outside('touch -d 2020-01-01T00:00:00Z api/.env');
    expect(await out('stat -c "%a %Y" api/.env')).toBe('600 1577836800\n');
    expect(statSync(join(here.root, 'api/.env')).mode & 0o777).toBe(0o600);
  });
});

const WIDE = useKeptApart({ deniedPatterns: ['secrets/**'] });

describe.skipIf(WHY_NOT !== '')(`a hidden directory of which git tracks a part${WHY_NOT}`, () => {
  it('shows that part, and nothing else', async () => {
    WIDE.outside(
      `git init -q -b main; ${ME}; mkdir -p secrets/deep; echo one >secrets/deep/a; git add -Af; git commit -qm one; echo mine >secrets/mine; echo mine >secrets/deep/mine`,
    );
    const { stdout, changes } = await WIDE.run(
      'find secrets -type f; cat secrets/deep/a; git status --porcelain; touch secrets/deep/a; git add -A',
    );
    expect(stdout.head).toBe('secrets/deep/a\none\n');
    expect(changes?.refused).toEqual([]);
    const removed = await WIDE.run('rm -rf secrets');
    expect(removed.changes?.refused.map(({ path }) => path)).toEqual(['secrets/']);
    expect(WIDE.outside('cat secrets/mine secrets/deep/*')).toBe('mine\none\nmine\n');
  });
});
