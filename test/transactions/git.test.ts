import { beforeEach, describe, expect, it } from 'vitest';
import { useKeptApart, whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();

const here = useKeptApart();

const ME = 'git config user.name me; git config user.email me@here';

const out = async (command: string): Promise<string> => {
  const { stdout, stderr } = await here.run(command);
  return stdout.head + stderr.head;
};

describe.skipIf(WHY_NOT !== '')(`git in a transaction${WHY_NOT}`, () => {
  beforeEach(() => {
    here.outside(
      `git init -q -b main; ${ME}; mkdir api; echo SECRET >api/.env; printf 'token=SECRET\\n' >.npmrc; echo a >a; git add -Af; git commit -qm one; echo SECRET >untracked.pem`,
    );
  });

  it('commits, branches, stashes and rebases next to hidden files, whether tracked or not', {
    tags: ['soak'],
  }, async () => {
    expect(await out('git status --porcelain')).toBe('');
    const { changes, exitCode, stderr } = await here.run(
      'git checkout -qb topic && echo b >b && git add -A && git commit -qam two && git checkout -q main && echo c >c && git add -A && git commit -qm three && git rebase -q main topic && echo x >>a && git stash -q && git stash pop -q && git worktree add -q tree main && git log --oneline | wc -l',
    );
    expect([exitCode, stderr.head, changes?.conflicts]).toEqual([0, '', []]);
    // Another working tree contains them too.
    expect(changes?.refused).toEqual([]);
    expect(changes?.created).toEqual(expect.arrayContaining(['tree/.npmrc', 'tree/api/.env']));
    expect(
      here.outside(
        'git status --porcelain; git log --format=%s; cat .npmrc api/.env untracked.pem; git -C tree status --porcelain -uno',
      ),
    ).toBe(' M a\n?? tree/\n?? untracked.pem\ntwo\nthree\none\ntoken=SECRET\nSECRET\nSECRET\n');
    expect(here.outside('git show --stat --format= HEAD HEAD^')).not.toMatch(/npmrc|env|pem/);
    expect(await out('git worktree remove --force tree && git worktree list | wc -l')).toBe('1\n');
    expect(here.outside('git worktree list | wc -l; ls')).toBe('1\na\napi\nb\nc\nuntracked.pem\n');
  });

  it('switches to a branch of a remote, which gets no upstream', async () => {
    here.outside('git branch topic; git clone -q . copy; git branch -D topic');
    const { changes, exitCode } = await here.run(
      'cd copy && git switch -q topic && git checkout -qb own origin/topic && git -c push.autoSetupRemote=true push -q origin own',
    );
    expect([exitCode, changes?.refused]).toEqual([0, []]);
    expect(
      here.outside('git -C copy branch --format="%(refname:short) %(upstream)"; git branch --list own'),
    ).toBe('main refs/remotes/origin/main\nown \ntopic \n  own\n');
  });

  it('leaves content that a filter of the repository converts unchanged', { tags: ['soak'] }, async () => {
    // As with git-crypt and LFS; unreliable times make git read the file.
    here.outside(
      `printf '*.env filter=crypt\n' >.gitattributes; printf '.npmrc filter=crypt\n' >api/.gitattributes; git config filter.crypt.clean 'tr a-z b-za'; git config filter.crypt.smudge 'tr b-za a-z'; git config filter.crypt.required true; git add -A; git commit -qm filters; touch -d +1hour api/.env .npmrc; git add -A; git commit -qam again --allow-empty; touch -d +1hour .git/index`,
    );
    const before = here.outside('git rev-parse HEAD:api/.env HEAD:.npmrc; cat .git/config');
    for (const command of [
      'git status --porcelain -uno',
      'touch x; git add -A; git add --renormalize .; git commit -qam x; git status --porcelain',
      'echo y >x; git stash -q; git stash pop -q; git commit -qam y; git checkout -q --detach HEAD~1; git checkout -q -; git status --porcelain',
    ]) {
      expect(await out(command), command).toBe('');
    }
    expect(here.outside('git rev-parse HEAD:api/.env HEAD:.npmrc; cat .git/config')).toBe(before);
    expect(await out('cat api/.env .npmrc')).toBe('SECRET\ntoken=SECRET\n');
  });

  it('never commits the absence of a protected file: in a working tree, a branch, or a clone', async () => {
    here.outside(
      'git checkout -q -b other; echo token >.pypirc; git add -f .pypirc; git commit -qm more; git checkout -q main',
    );
    const tracked = 'git ls-tree -r --name-only HEAD | grep -cE "env|npmrc|pypirc"';
    for (const [making, at, count] of [
      ['git worktree add -q tree other', 'tree', 3],
      ['git clone -q --no-hardlinks . clone', 'clone', 2],
      ['git checkout -q --detach other', '.', 3],
    ] as const) {
      await here.run(making);
      expect(await out(`cd ${at}; git status --porcelain -uno`), making).toBe('');
      await here.run(
        `cd ${at}; git config user.name >&2 || export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=b; echo z >z; git add -A; git commit -qam z; echo y >>z; git stash -q; git stash pop -q; git commit -qam y`,
      );
      expect(here.outside(`cd ${at}; git log -1 --format=%s; ${tracked}`), making).toBe(`y\n${count}\n`);
    }
    // Files outside the sparse checkout are not shown.
    here.outside('git checkout -q main; git sparse-checkout set --no-cone "/*" "!/api"');
    expect(await out('ls; git status --porcelain -uno')).not.toMatch(/api/);
  });

  it('keeps hooks, settings and files that refer to other ones unchanged', async () => {
    const before = here.outside('cat .git/config; ls .git/hooks');
    const { changes } = await here.run(
      'git config core.fsmonitor /tmp/evil; echo evil >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; ' +
        'echo /tmp/evil >.git/commondir; echo x >.git/config.worktree; mkdir -p .git/modules/m/hooks; echo x >.git/modules/m/hooks/h; ' +
        'rm .git/hooks/*.sample; mv .git/config .git/other; ln -s /tmp .git/worktrees',
    );
    expect(
      here.outside(
        'cat .git/config; ls .git/hooks; ls -A .git | grep -E "commondir|config.worktree" || true',
      ),
    ).toBe(before);
    expect(changes?.refused.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        '.git/config',
        '.git/hooks/pre-commit',
        '.git/commondir',
        '.git/config.worktree',
        '.git/modules/m/hooks/',
      ]),
    );
    expect(here.outside('git status --porcelain')).toBe('?? untracked.pem\n');
  });

  it('is not removed, nor replaced by another repository', async () => {
    const { changes } = await here.run(
      'rm -rf .git; git init -q; git config core.pager evil; echo x >.git/hooks/x; rm -rf .git/objects',
    );
    expect(here.outside('git log --format=%s; git fsck 2>&1; git config core.pager || true')).toBe('one\n');
    expect(changes?.refused.length).toBeGreaterThan(0);
    await here.run('rm -rf .git; mkdir x; mv x .git');
    await here.run('mv .git old');
    await here.run('rm -rf .git; echo "gitdir: /tmp/evil" >.git');
    expect(here.outside('git log --format=%s; git fsck 2>&1')).toBe('one\n');
  });

  it('creates repositories below it without sample hooks, and with harmless settings only', async () => {
    const make =
      'mkdir sub && cd sub && git init -q -b main && git config core.fsmonitor evil && git config user.name you && git config user.email y@o && echo s >s && git add s && git commit -qm sub';
    const { changes } = await here.run(make);
    expect(
      here.outside(
        'cd sub; git log --format="%s %an"; ls .git/hooks; git config core.fsmonitor || echo none; git config user.name',
      ),
    ).toBe('sub you\nnone\nyou\n');
    expect(changes?.refused).toContainEqual({
      path: 'sub/.git/config',
      reason: 'settings that are not known to be harmless are left out',
    });
    expect(changes?.refused).toContainEqual({
      path: 'sub/.git/hooks/pre-commit.sample',
      reason: 'sample hooks are left out',
    });
    const armed = await here.run(
      `${make.replaceAll('sub', 'armed')}; echo "#!/bin/sh" >.git/hooks/post-checkout && chmod +x .git/hooks/post-checkout`,
    );
    expect(armed.discardedBy).toBe('rules');
    expect(armed.changes?.refused.map(({ path }) => path)).toEqual(['armed/.git/hooks/post-checkout']);
    expect(here.outside('ls')).not.toContain('armed');
  });

  it('finds no repository through a file that a command has written', async () => {
    const { changes } = await here.run(
      'mkdir -p evil/refs evil/objects other; echo ref: refs/heads/x >evil/HEAD; echo "gitdir: ../evil" >other/.git; ln -s evil sly; mkdir l; ln -s ../evil l/.git',
    );
    expect(changes?.refused.map(({ path }) => path).sort()).toEqual(['l/.git', 'other/.git']);
  });
});

describe.skipIf(WHY_NOT !== '')(`a root without a repository${WHY_NOT}`, () => {
  it('gets one by git init', { tags: ['soak'] }, async () => {
    const { changes } = await here.run(
      `git init -q -b main; ${ME}; git config core.hooksPath evil; echo a >a; git add a; git commit -qm one`,
    );
    expect(
      here.outside(
        'git log --format="%s %an"; git status --porcelain; git config core.hooksPath || echo none',
      ),
    ).toBe('one me\nnone\n');
    expect(changes?.refused.every(({ path }) => /\.sample$|config$/.test(path))).toBe(true);
  });
});
