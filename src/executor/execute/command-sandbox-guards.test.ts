import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WHY_NO_SANDBOX } from '../../commands/fixtures/sandbox-here.js';
import { eachOf } from '../../testing/fixtures/each-of.js';
import { makeSandboxedRoot, type SandboxedRoot } from '../fixtures/sandboxed-root.js';

let at: SandboxedRoot;
beforeEach(() => {
  at = makeSandboxedRoot();
});
afterEach(() => at.remove());

function put(path: string, text: string): void {
  mkdirSync(dirname(join(at.root, path)), { recursive: true });
  writeFileSync(join(at.root, path), text);
}
const taken = (path: string): string => readFileSync(join(at.root, path), 'utf8');

describe.skipIf(WHY_NO_SANDBOX)(
  `what is guarded, where commands write through${WHY_NO_SANDBOX}`,
  { timeout: 180_000 },
  () => {
    it.each(['node_modules', '.venv', '__pycache__', 'a/.hg', 'a b/.svn', '.toolexec'])(
      'stays so: its directory cannot be moved into %s, nor aside',
      async (skipped) => {
        put('api/v1/.env', 'SECRET=1');
        put('api/v1/code.js', 'code');
        const moving = `mkdir -p '${skipped}'; mv api '${skipped}/api'; mv api/v1 '${skipped}/v1'; mv api aside; mv api/v1 api/v2`;
        const moved = await at.out(moving);
        expect(moved.match(/busy|cross-device/gi)?.length).toBeGreaterThan(2);
        expect(await at.out('grep -r SECRET . ; cat api/v1/code.js')).not.toContain('SECRET=1');
        expect(taken('api/v1/.env')).toBe('SECRET=1');
      },
    );

    it('stays so in a repository below the root that is moved out and in', async () => {
      at.outside('git init -q sub');
      const config = taken('sub/.git/config');
      await at.run('mv sub node_modules; mkdir node_modules; mv sub node_modules/sub');
      await at.run('echo evil >> node_modules/sub/.git/config; mv node_modules/sub sub');
      await at.run('mv sub/.git sub/git; mv sub/git sub/.git');
      expect(taken('sub/.git/config')).toBe(config);
    });

    it('leaves the rest of its directories unchanged', async () => {
      put('api/v1/.env', 'SECRET=1');
      put('api/v1/code.js', 'code');
      expect(
        await at.out(
          'cd api/v1 && echo more >> code.js && mv code.js ../new.js && mkdir deep && mv deep deeper && rmdir deeper && ln ../new.js ../two && rm ../two && cat ../new.js',
        ),
      ).toBe('codemore\n');
    });

    eachOf([[40], [1], [300]], 1)('is guarded all the same where there is much of it: %i', async (count) => {
      const names = Array.from({ length: count }, (_, index) => `d${index}/with space/.env`);
      for (const name of names) put(name, 'SECRET=1');
      put('w/.vscode/tasks.json', 'before');
      put('w/tab\there/line\nfeed/.ssh/key', 'SECRET=2');
      const said = await at.out(
        'grep -rs SECRET . ; echo after > w/.vscode/tasks.json; mv d0 x; echo y > w/made; cat w/made; id -u',
      );
      expect(said).not.toMatch(/SECRET=\d/);
      expect(said).toMatch(new RegExp(`^y\n${process.getuid?.()}\n`, 'm'));
      expect(taken('w/.vscode/tasks.json')).toBe('before');
      expect(taken('w/made')).toBe('y\n');
    });

    it('runs hooks that are there, however much is guarded', async () => {
      at.outside('git init -q && echo "echo hook ran" > .git/hooks/pre-commit');
      chmodSync(join(at.root, '.git/hooks/pre-commit'), 0o755);
      for (let index = 0; index < 40; index++) put(`d${index}/.env`, 'SECRET');
      const said = await at.out(
        'git config user.name x; git -c user.name=a -c user.email=b commit -qm x --allow-empty; echo evil > .git/hooks/pre-push; git log --oneline | wc -l',
      );
      expect(said).toMatch(/^1$/m);
      expect(said).toContain('hook ran');
      expect(at.outside('ls .git/hooks')).not.toMatch(/^pre-push$/m);
    });

    it.each([
      // Most file systems give a new file the inode number of the file that was just removed.
      ['is removed and made again', 's/.env', 'rm s/.env && echo SECRET=2 > s/.env'],
      ['is exchanged', 's/.env', 'echo SECRET=2 > s/x && mv --exchange -T s/x s/.env 2>&- || mv s/x s/.env'],
      ['has another name', 's/.env', 'ln s/.env s/plain'],
      ['is a link now', 's/.env', 'mkdir v && echo SECRET=2 > v/.env && ln -sfT ../v/.env s/.env'],
      ['is behind a circle of links', 's/.env', 'mv s t && ln -s s s'],
      ['goes with its directory', 's/.env', 'mv s t && mkdir s && echo SECRET=2 > s/.env'],
      [
        'goes with the root',
        's/.env',
        'mv "$PWD" "$PWD.old" && mkdir -p "$PWD/s" && echo SECRET=2 > "$PWD/s/.env"',
      ],
    ])('ends with the command where it %s', async (_what, path, replace) => {
      at.outside('git init -q && mkdir s && echo SECRET=1 > s/.env');
      let isReplaced = false;
      const { sandbox, signal, stdout } = await at.run('echo ready; sleep 20', {
        onOutput() {
          if (!isReplaced) setTimeout(() => at.outside(replace), 60);
          isReplaced = true;
        },
      });
      expect([stdout.head, signal, sandbox?.lost?.includes(join(at.root, path))]).toEqual([
        'ready\n',
        'SIGKILL',
        true,
      ]);
    });

    it('is not lost where it is written to, and where its mode or time is changed', async () => {
      at.outside('mkdir s && echo SECRET=1 > s/.env');
      const { sandbox, exitCode } = await at.run('echo ready; sleep 0.3; cat s/.env', {
        onOutput: () => void at.outside('echo SECRET=2 > s/.env; chmod 600 s/.env; touch -d @1 s/.env'),
      });
      expect([sandbox?.lost, exitCode]).toEqual([undefined, 1]);
    });

    it('ends with the command where another program replaces it: as an editor saves, as git config does', async () => {
      put('.env', 'SECRET=1');
      put('d/.envrc', 'before');
      at.outside('git init -q');
      const wait = 'echo ready; while ! grep -qs SECRET .env; do :; done; cat .env; sleep 20';
      for (const [path, replace] of [
        ['.env', 'echo SECRET=2 > .new; mv .new .env'],
        ['d/.envrc', 'cp d/.envrc d/x; mv d/x d/.envrc'],
        ['.git/config', 'git config user.name Ada'],
      ] as const) {
        let isReplaced = false;
        const { sandbox, signal, aborted, stdout } = await at.run(wait, {
          onOutput() {
            if (!isReplaced) setTimeout(() => at.outside(replace), 60);
            isReplaced = true;
          },
        });
        expect(stdout.head).toMatch(/^ready\n/);
        expect([sandbox?.lost, signal, aborted]).toEqual([[join(at.root, path)], 'SIGKILL', false]);
      }
      // A command that ends before this is noticed at least reports it.
      const quick = await at.run('echo ready; sleep 0.1 & wait', {
        onOutput: () => void at.outside('echo SECRET=3 > .new; mv .new .env'),
      });
      expect(quick.sandbox?.lost).toEqual([join(at.root, '.env')]);
      expect((await at.run('cat .env')).sandbox?.lost).toBeUndefined();
    });
  },
);
