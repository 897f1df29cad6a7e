import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WHY_NO_SANDBOX } from '../../commands/fixtures/sandbox-here.js';
import { makeSandboxedRoot, type SandboxedRoot } from '../fixtures/sandboxed-root.js';

let at: SandboxedRoot;
beforeEach(() => {
  at = makeSandboxedRoot();
  writeFileSync(join(at.home, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.org\n');
  at.outside('git init -q -b main && echo 1 > a && git add a && git commit -qm first');
});
afterEach(() => at.remove());

const has = (path: string): boolean => existsSync(join(at.root, path));
/** A person's action after a command, which must not run anything left by the command. */
const statusEverywhere = (): void => {
  at.outside('git status; for d in emb node_modules/emb; do [ -d $d ] && git -C $d status; done; true');
};

const EVIL = `printf '#!/bin/sh\ntouch "${'$'}ROOT/pwned"\n' > evil; chmod +x evil; ROOT=$PWD; sed -i "s:.ROOT:$ROOT:" evil;`;
const PLANT = `git config core.fsmonitor "$ROOT/evil"; git config core.hooksPath "$ROOT/hooks"`;

const PLANTINGS: Readonly<Record<string, string>> = {
  'an embedded repository that the index names': `git init -q emb; (cd emb; echo 1 > x; git add x; git commit -qm x; ${PLANT}); git add emb`,
  'one where no guarded files are looked for': `mkdir node_modules; git init -q node_modules/emb; (cd node_modules/emb; echo 1 > x; git add x; git commit -qm x; ${PLANT}); git add -f node_modules/emb; git update-index --split-index`,
  'settings that only git understands': `git init -q emb; (cd emb; echo 1 > x; git add x; git commit -qm x; printf '[core]\n\\tbare = "fal\\\\\nse"\n\\tfsmonitor = %s/evil\n' "$ROOT" >> .git/config); git add emb`,
  'a file that leads to another directory': `git init -q other; (cd other; echo 1 > x; git add x; git commit -qm x; ${PLANT}); mv other/.git gone; mkdir emb; echo 1 > emb/x; echo "gitdir: $ROOT/gone" > emb/.git; git add emb`,
  'a working tree with other settings': `git worktree add -q emb; mkdir common; cp -r .git/objects .git/refs .git/HEAD common; printf '[core]\n\\tfsmonitor = %s/evil\n' "$ROOT" > common/config; echo "$ROOT/common" > .git/worktrees/emb/commondir; git add emb`,
  'a repository of a submodule': `git init -q .git/modules/emb; mv .git/modules/emb/.git/* .git/modules/emb/; mkdir emb; echo "gitdir: $ROOT/.git/modules/emb" > emb/.git; (cd emb; echo 1 > x; git add x; git commit -qm x; ${PLANT}); git add emb`,
  'a link in its place': `git init -q emb; (cd emb; echo 1 > x; git add x; git commit -qm x); mv emb/.git/config c; printf '[core]\n\\tfsmonitor = %s/evil\n' "$ROOT" >> c; ln -s ../../c emb/.git/config; git add emb`,
};

describe.skipIf(WHY_NO_SANDBOX)(
  `what a command plants for git, where it writes through${WHY_NO_SANDBOX}`,
  { timeout: 180_000 },
  () => {
    it.each(Object.entries(PLANTINGS))('runs nothing later: %s', async (_, planting) => {
      const { stderr, sandbox } = await at.run(`${EVIL} ${planting}`);
      statusEverywhere();
      expect([has('pwned'), stderr.head]).toEqual([false, expect.anything()]);
      // Otherwise nothing was planted.
      expect(has('evil')).toBe(true);
      expect(
        sandbox?.disarmed ?? readdirSync(join(at.root, '.git')).filter((name) => /disabled/.test(name)),
      ).not.toEqual([]);
    });

    it('runs nothing either while the command still runs', async () => {
      const stop = new AbortController();
      let said = '';
      const running = at.run(
        `${EVIL} ${PLANTINGS['an embedded repository that the index names']}; echo done; sleep 30`,
        {
          signal: stop.signal,
          onOutput: (_, chunk) => {
            said += String(Buffer.from(chunk));
          },
        },
      );
      // The first of the settings may be switched off before the last one is created.
      await expect.poll(() => said, { timeout: 20_000 }).toContain('done');
      const isHarmless = (): boolean =>
        has('emb/.git/config.disabled') &&
        !/fsmonitor|hooksPath/i.test(readFileSync(join(at.root, 'emb/.git/config'), 'utf8'));
      await expect.poll(isHarmless, { timeout: 20_000 }).toBe(true);
      statusEverywhere();
      stop.abort();
      expect((await running).sandbox?.disarmed).toEqual([join(at.root, 'emb/.git')]);
      expect(has('pwned')).toBe(false);
    });

    it('is swept where what started the command has died: commondir, in every way', async () => {
      const config = at.outside('git config --list --local');
      writeFileSync(join(at.root, '.git/commondir'), '../evil\n');
      expect(await at.out('git status -s; git log --oneline | wc -l')).toBe('1\n');
      expect(has('.git/commondir')).toBe(false);
      expect(at.outside('git config --list --local')).toBe(config);
    });

    it('is kept from settings of working trees, where those count', async () => {
      at.outside('git config extensions.worktreeConfig true');
      await at.run(
        'echo "[core] fsmonitor = evil" > .git/config.worktree; rm -f .git/config.worktree; mv .git/config.worktree x',
      );
      expect(readFileSync(join(at.root, '.git/config.worktree'), 'utf8')).toBe('');
    });

    it('leaves harmless repositories unchanged, and git usable', async () => {
      const used = [
        'git init -q -b main emb; cd emb; git remote add origin https://example.org/x; echo 1 > x; git add x; git commit -qm x; cd ..',
        'git clone -q emb second 2>/dev/null',
        'git worktree add -q tree; cd tree; echo 2 > b; git add b; git commit -qm b; cd ..; git worktree remove tree; git worktree add -q tree tree',
        'echo 2 > a; git stash -q; git stash pop -q; git commit -qam second; git checkout -q -b other HEAD~1; echo 3 > c; git add c; git commit -qm c; git rebase -q main; git merge -q tree; git tag v1; git gc -q; git log --oneline | wc -l',
      ];
      const { stdout, stderr, sandbox } = await at.run(used.join('\n'));
      expect([stdout.head, stderr.head, sandbox?.disarmed]).toEqual(['5\n', '', undefined]);
      expect(
        at.outside(
          'git -C emb remote get-url origin; git -C second log --oneline | wc -l; git -C tree log --oneline | wc -l; git fsck --no-progress --no-dangling 2>&1',
        ),
      ).toBe('https://example.org/x\n1\n2\n');
    });
  },
);
