import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WHY_NO_SANDBOX } from '../../commands/fixtures/sandbox-here.js';
import { createSandbox } from '../../files/create-sandbox.js';
import { makeSandboxedRoot, type SandboxedRoot } from '../fixtures/sandboxed-root.js';

let at: SandboxedRoot;
let main: string;
beforeEach(() => {
  at = makeSandboxedRoot();
  main = join(at.around, 'main');
  mkdirSync(main);
  writeFileSync(join(at.home, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.org\n');
  at.outside('git init -q -b main && echo 1 > a && git add a && git commit -qm first', main);
});
afterEach(() => at.remove());

describe.skipIf(WHY_NO_SANDBOX)(
  `working trees of a repository outside${WHY_NO_SANDBOX}`,
  { timeout: 180_000 },
  () => {
    it('commit to it, and change neither its hooks and settings nor its own tree', async () => {
      at.outside(`git worktree add -q ${at.root}`, main);
      const config = readFileSync(join(main, '.git/config'), 'utf8');
      expect(
        await at.out(
          'git status -s; echo 2 > a; git commit -qam second; git stash list; git rebase -q main; git gc -q; git log --format="%an %s"',
        ),
      ).toBe('Ada second\nAda first\n');
      await at.run(
        `cd ${main}/.git; echo evil > hooks/pre-commit; echo evil >> config; echo evil > commondir; git config core.fsmonitor evil; mv ../.git x; git -C ${main} rm -q --cached a`,
      );
      expect(at.outside('git log --format=%s root; git status -s', main)).toBe('second\nfirst\n');
      expect(readFileSync(join(main, '.git/config'), 'utf8')).toBe(config);
      expect(
        existsSync(join(main, '.git/hooks/pre-commit')) || existsSync(join(main, '.git/commondir')),
      ).toBe(false);
      expect(await at.out(`ls ${main}; cat ${main}/a`)).toMatch(/^cat: [^\n]*No such file[^\n]*\n$/);
    });

    it('may be submodules', { tags: ['soak'] }, async () => {
      const over = join(at.around, 'over');
      at.outside(
        `git init -q ${over} && git -C ${over} -c protocol.file.allow=always submodule --quiet add ${main} sub`,
      );
      const root = join(over, 'sub');
      const sandbox = createSandbox({ roots: [root] });
      const guarded = () =>
        sandbox.guarded?.() ?? { hidden: [], readOnly: [], missing: [], incomplete: false };
      const { stdout, stderr } = await at.run(
        'echo 2 > a && git commit -qam second && git log --format=%s && echo x > "$(git rev-parse --git-dir)/config"',
        {
          cwd: root,
          confinement: { os: 'required', network: false, roots: [root], readable: [], guarded },
        },
      );
      expect([stdout.head, stderr.head]).toEqual(['second\nfirst\n', expect.stringContaining('Read-only')]);
    });

    it('are not shown what says so of itself: the repository has to know them', async () => {
      writeFileSync(join(main, 'secret'), 'the secret');
      for (const named of [join(main, '.git'), `${main}/.git/../.git`, at.around, '/etc']) {
        writeFileSync(join(at.root, '.git'), `gitdir: ${named}\n`);
        const said = await at.out(`ls ${main} ${main}/.git; git log; git status`);
        expect(said).not.toMatch(/first|HEAD\n/);
      }
    });

    it('are not taken for removed where they lie outside, and are where they are gone', {
      tags: ['soak'],
    }, async () => {
      at.outside(
        `git init -q -b main . && git commit -qm x --allow-empty && git worktree add -q ../side && git worktree add -q gone`,
      );
      at.outside('rm -rf gone');
      await at.run('git worktree prune; git gc -q');
      expect(readdirSync(join(at.root, '.git/worktrees'))).toEqual(['side']);
      expect(at.outside('git status -s; git log --format=%s', join(at.around, 'side'))).toBe('x\n');
      const said = await at.out(`cat ${at.around}/side/.git; ls -a ${at.around}/side`);
      expect(said).toBe(`gitdir: ${at.root}/.git/worktrees/side\n.\n..\n.git\n`);
    });

    it('show no file of the outside that a command names as one', async () => {
      writeFileSync(join(at.around, '.git'), 'the secret');
      at.outside('git init -q . && git commit -qm x --allow-empty');
      await at.run(
        `mkdir -p .git/worktrees/x; echo ${at.around}/.git > .git/worktrees/x/gitdir; echo ../.. > .git/worktrees/x/commondir; echo 'ref: refs/heads/x' > .git/worktrees/x/HEAD`,
      );
      expect(await at.out(`cat ${at.around}/.git`)).toMatch(/No such file/);
    });

    it('can be made and removed inside', async () => {
      at.outside('git init -q -b main . && git commit -qm x --allow-empty');
      const { exitCode, stderr } = await at.run(
        'git worktree add -q t && cd t && echo 1 > a && git add a && git commit -qm y',
      );
      expect([exitCode, stderr.head]).toEqual([0, '']);
      expect(await at.out('git log --format=%s t --; git -C t status -s')).toBe('y\nx\n');
    });
  },
);
