import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WHY_NO_SANDBOX } from '../../commands/fixtures/sandbox-here.js';
import { eachOf } from '../../testing/fixtures/each-of.js';
import { makeSandboxedRoot, type SandboxedRoot } from '../fixtures/sandboxed-root.js';

let at: SandboxedRoot;
beforeEach(() => {
  at = makeSandboxedRoot(['secrets/**']);
  writeFileSync(join(at.home, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.org\n');
});
afterEach(() => at.remove());

const put = (path: string, text: string): void => writeFileSync(join(at.root, path), text);
const taken = (path: string): string => readFileSync(join(at.root, path), 'utf8');

const PLANTINGS = [
  'mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit',
  'mv .git .moved; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit',
  'rm -rf .git/hooks; ln -s ../evil .git/hooks; mkdir evil; echo evil > evil/pre-commit',
  'git config core.hooksPath evil; echo "[core] fsmonitor=evil" >> .git/config; mv .git/config x',
  'ln -sf /dev/null .git/config; rm -f .git/config; echo evil > .git/config',
  'echo ../evil > .git/commondir; echo evil > .git/config.worktree',
];

describe.skipIf(WHY_NO_SANDBOX)(
  `git inside the command sandbox${WHY_NO_SANDBOX}`,
  { timeout: 180_000 },
  () => {
    it('commits, and plants nothing that git would run', async () => {
      at.outside('git init -q && echo 1 > a && git add a && git commit -qm first');
      const config = taken('.git/config');
      expect(
        (await at.run('echo 2 > a; git commit -qam second && git log --oneline | wc -l')).stdout.head,
      ).toBe('2\n');
      for (const planting of PLANTINGS) await at.run(planting);
      expect(readdirSync(join(at.root, '.git'))).not.toContain('commondir');
      expect(readdirSync(join(at.root, '.git'))).not.toContain('config.worktree');
      expect(taken('.git/config')).toBe(config);
      expect(readdirSync(join(at.root, '.git/hooks')).filter((name) => !name.endsWith('.sample'))).toEqual(
        [],
      );
    });

    it('switches to a branch of a remote, without an upstream', async () => {
      at.outside('git init -q && git commit -qm first --allow-empty && git branch topic');
      at.outside('git remote add origin . && git fetch -q && git branch -D topic');
      const { exitCode, stderr } = await at.run('git switch -q topic');
      expect([exitCode, stderr.head]).toEqual([0, '']);
      expect(taken('.git/HEAD')).toBe('ref: refs/heads/topic\n');
    });

    it('makes no hooks either where a repository has no place for them, nor in a submodule', {
      tags: ['soak'],
    }, async () => {
      at.outside(
        'git init -q --template= . && git init -q --template= .git/modules/sub && rm .git/modules/sub/.git/config',
      );
      at.outside('mv .git/modules/sub/.git/* .git/modules/sub/');
      for (const git of ['.git', '.git/modules/sub']) {
        await at.run(
          `mkdir -p ${git}/hooks; echo evil > ${git}/hooks/pre-commit; echo evil >> ${git}/config; echo x > ${git}/commondir`,
        );
        expect(readdirSync(join(at.root, git, 'hooks'))).toEqual([]);
        expect(taken(`${git}/config`)).not.toContain('evil');
        expect(existsSync(join(at.root, git, 'commondir'))).toBe(false);
      }
    });

    it('does not turn a planted directory into a repository, and leaves no trace of it', {
      tags: ['soak'],
    }, async () => {
      for (const planting of [...PLANTINGS, 'rmdir .git; mkdir .git', 'rm -rf .git; echo x > .git']) {
        await at.run(planting);
        expect(readdirSync(at.root).filter((name) => name === '.git' || name === '.moved')).toEqual([]);
      }
      await Promise.all(PLANTINGS.flatMap((planting) => [at.run(planting), at.run('sleep 0.1')]));
      expect(existsSync(join(at.root, '.git'))).toBe(false);
    });

    it('creates a new repository, without hooks and settings that run programs', async () => {
      const plant = PLANTINGS.filter(
        (planting) => !planting.includes('mv .git') && !planting.includes('rm -f'),
      ).join('; ');
      const made = await at.out(
        `git init -q -b main && git remote add origin https://example.org/x && git config core.fsmonitor evil && echo 1 > a && git add a && git commit -qm first && git status -s; ${plant}`,
      );
      expect(made).not.toMatch(/fatal/);
      expect(at.outside('git log --format="%an %s"; git remote get-url origin')).toBe(
        'Ada first\nhttps://example.org/x\n',
      );
      expect(taken('.git/config')).not.toContain('evil');
      expect(readdirSync(join(at.root, '.git/hooks'))).toEqual([]);
      expect(
        ['commondir', 'config.worktree', 'toolexec-new'].filter((name) =>
          existsSync(join(at.root, '.git', name)),
        ),
      ).toEqual([]);
      expect(await at.out('git log --format=%s')).toBe('first\n');
    });

    it('knows the committer, and nothing else from the personal settings', async () => {
      writeFileSync(
        join(at.home, '.gitconfig'),
        `[user]
	name = Ada \\"the\\" 'first
	email = ada@example.org ; hers
	signingkey = ABC
[commit]
	gpgsign = true
[alias]
	evil = !touch evil
[core]
	autocrlf = input
	pager = evil
	hooksPath = /evil
	fsmonitor = evil
[credential]
	helper = evil
[include]
	path = elsewhere
[url "evil"]
	insteadOf = https://
`,
      );
      expect(await at.out('git config --global --list')).toBe(
        'user.name=Ada "the" \'first\nuser.email=ada@example.org\ncore.autocrlf=input\n',
      );
      await at.run('git init -q && echo 1 > a && git add a && git commit -qm first');
      expect(at.outside('git log --format="%an <%ae>"')).toBe('Ada "the" \'first <ada@example.org>\n');
      mkdirSync(join(at.home, '.config/git'), { recursive: true });
      writeFileSync(
        join(at.home, '.config/git/config'),
        '[user]\nname = Overruled\n[init]\ndefaultBranch = trunk\n',
      );
      expect(await at.out('git config user.name; git config init.defaultBranch')).toBe(
        'Ada "the" \'first\ntrunk\n',
      );
    });

    it('takes for new what the person does, and not what they ignore everywhere', async () => {
      mkdirSync(join(at.home, '.config/git'), { recursive: true });
      writeFileSync(join(at.home, '.config/git/ignore'), "*.swp\n# it's mine\n");
      put('a', '1');
      put('a.swp', '2');
      put('a.orig', '3');
      const untracked = 'git init -q 2>/dev/null; git status -s';
      expect(await at.out(untracked)).toBe('?? a\n?? a.orig\n');
      writeFileSync(join(at.home, '.gitconfig'), '[core]\n\texcludesFile = ~/elsewhere\n');
      expect(await at.out(untracked)).toBe('?? a\n?? a.orig\n?? a.swp\n');
      writeFileSync(join(at.home, 'elsewhere'), '*.orig\n');
      expect(await at.out(untracked)).toBe('?? a\n?? a.swp\n');
      // More settings than a person would write by hand are not passed on, and prevent nothing.
      writeFileSync(join(at.home, 'elsewhere'), '*.orig\n'.repeat(100_000));
      expect(await at.out(untracked)).toBe('?? a\n?? a.orig\n?? a.swp\n');
    });
  },
);

const HIDDEN = {
  '.npmrc': 'token=secret\n',
  'p/.env': 'A=secret\nB=1\n',
  'p/big.pem': 'secret'.repeat(10_000),
  'secrets/a': 'secret',
  'secrets/deep/b': 'secret too\n',
} as const;

describe.skipIf(WHY_NO_SANDBOX)(`what is hidden, and git knows${WHY_NO_SANDBOX}`, () => {
  beforeEach(() => {
    for (const folder of ['p', 'secrets/deep']) mkdirSync(join(at.root, folder), { recursive: true });
    for (const [path, text] of Object.entries(HIDDEN)) put(path, text);
    put('a', '1\n');
    at.outside('git init -q && git add -A && git commit -qm first && git branch other');
  });
  const blobs = (): string => at.outside(`git ls-tree -r HEAD -- ${Object.keys(HIDDEN).join(' ')}`);

  it('shows its committed version to commands, never another one, and is not a change for git', async () => {
    put('.npmrc', 'token=mine\n');
    put('secrets/mine', 'mine');
    expect(await at.out('cat .npmrc p/.env secrets/a secrets/deep/b; cat secrets/mine')).toMatch(
      /^token=secret\nA=secret\nB=1\nsecretsecret too\n?cat: secrets\/mine: No such file/,
    );
    for (const command of ['git status -s', 'git diff', 'git diff-index HEAD', 'git diff HEAD --stat']) {
      expect([command, await at.out(command)]).toEqual([command, '']);
    }
    expect(at.outside('git status -s')).toBe(' M .npmrc\n?? secrets/mine\n');
  });

  eachOf(
    [
      ['echo 2 > a; git add -A; git commit -qm x'],
      ['git checkout -q -b y; echo 2 > a; git commit -qam x; git rebase -q other; git merge -q other'],
      ['git add .npmrc p/.env secrets; echo 2 > a; git commit -qam x'],
      ['echo 2 > a; git commit -qam x'],
      ['echo 2 > a; git commit -qm x -- .'],
      ['echo 2 > a; git stash -q; git stash pop -q; git commit -qam x'],
      ['git read-tree HEAD; git add -A; echo 2 > a; git commit -qam x'],
      ['git add --renormalize .; echo 2 > a; git commit -qam x'],
      ['git update-index -q --really-refresh; echo 2 > a; git commit -qam x'],
      ['git reset -q --hard; git checkout -q other; echo 2 > a; git commit -qam x'],
    ],
    1,
  )('is recorded as it was: %s', async (command) => {
    const before = blobs();
    const { exitCode, stderr } = await at.run(command);
    expect([exitCode, stderr.head]).toEqual([0, '']);
    expect(blobs()).toBe(before);
    expect(at.outside('git show HEAD:a; git status -s')).toBe('2\n');
    for (const [path, text] of Object.entries(HIDDEN)) expect(taken(path)).toBe(text);
  });

  eachOf<[string, RegExp]>(
    [
      ['git rm -q .npmrc', /busy/],
      ['git mv .npmrc x', /busy/],
      ['rm -rf secrets', /Read-only|busy/],
      ['git clean -fdxq; rm .npmrc', /busy/],
    ],
    1,
  )('is never recorded as empty or gone unasked, and the result says why: %s', async (command, words) => {
    const before = blobs();
    const { sandbox, ...outcome } = await at.run(`${command} || exit 1; false`);
    expect(outcome.stderr.head).toMatch(words);
    expect(sandbox?.refused?.some((what) => what === 'hidden_file' || what === 'write_outside')).toBe(true);
    await at.run('git commit -qam x');
    expect(blobs()).toBe(before);
    for (const [path, text] of Object.entries(HIDDEN)) expect(taken(path)).toBe(text);
  });

  it('is not reported as changed even if it was modified, and the modification is kept', {
    tags: ['soak'],
  }, async () => {
    put('.npmrc', 'token=another\n');
    const before = blobs();
    const { exitCode } = await at.run('echo 2 > a; git add -A && git commit -qm x && git status -s');
    expect(exitCode).toBe(0);
    expect(blobs()).toBe(before);
    expect(at.outside('git status -s')).toBe(' M .npmrc\n');
  });

  it('is left alone where git does not know it', async () => {
    put('new.pem', 'secret');
    expect(await at.out('echo 2 > b; git add -A; git status -s')).toBe('A  b\n');
  });

  it('exists unchanged in clones and other working trees', { tags: ['soak'] }, async () => {
    expect(
      await at.out(
        'git clone -q . /tmp/c; cd /tmp/c; echo new > .npmrc; git commit -qam x; git show HEAD:.npmrc; git show HEAD~1:.npmrc',
      ),
    ).toBe('new\ntoken=secret\n');
  });

  it('is closed, not empty, where git cannot be asked', async () => {
    at.outside('git update-index --split-index');
    expect(await at.out('cat secrets/a; git status -s')).toBe('secret');
    const before = blobs();
    put('.git/index', 'DIRC');
    expect(await at.out('ls secrets; echo 2 > a; git add -A; git commit -qm x')).toMatch(/denied/);
    expect(blobs()).toBe(before);
    rmSync(join(at.root, '.git/index'));
    expect(await at.out('ls secrets')).toBe('');
  });

  it('cannot be used to write elsewhere: an index may say anything', async () => {
    const index = readFileSync(join(at.root, '.git/index'));
    for (const from of ['secrets/deep/b', 'secrets/a']) {
      const evil = Buffer.from(index);
      const start = evil.indexOf(`${from}\0`);
      evil.write(from.length === 9 ? 'secrets/.' : 'secrets/../../', start, 'latin1');
      writeFileSync(join(at.root, '.git/index'), evil);
      expect((await at.run('true')).exitCode).toBe(0);
    }
    expect(readdirSync(at.around).toSorted()).toEqual(['home', 'root']);
  });
});
