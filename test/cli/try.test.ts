import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { whyNoTransactions } from '../transactions/kept-apart.js';
import { hasScreens, type Screen, Screens } from './screen.js';
import { ended, type Ran, type RunSettings, useToolexec } from './toolexec.js';

const WHY_NOT = await whyNoTransactions();
const toolexec = useToolexec();
/** The command writes to the streams of its process. */
const attempt = (args: readonly string[], settings: RunSettings = {}): Promise<Ran> =>
  toolexec.run(['try', ...args], { ...settings, ownProcess: true });

const inRoot = (name: string): string => join(toolexec.root, name);
const names = (): readonly string[] => readdirSync(toolexec.root).sort();
const put = (name: string, text: string): void => {
  mkdirSync(join(inRoot(name), '..'), { recursive: true });
  writeFileSync(inRoot(name), text);
};

describe.skipIf(WHY_NOT !== '')(`toolexec try${WHY_NOT}`, () => {
  it('streams the output of the command, and exits with its code', async () => {
    const ran = await attempt(['--discard', '--', 'sh', '-c', 'cat; echo out; echo err >&2; exit 7'], {
      stdin: 'in\n',
    });
    expect(ran).toMatchObject({ code: 7, stdout: 'in\nout\n' });
    expect(ran.stderr).toMatch(/^err\n/);
  });

  it('shows output while the command runs', { tags: ['soak'] }, async () => {
    const child = toolexec.start(['try', '--discard', '--', 'echo early; sleep 3; echo late']);
    child.stdin.end();
    const first = await new Promise<string>((resolve) =>
      child.stdout.once('data', (chunk) => resolve(String(chunk))),
    );
    expect(first).toBe('early\n');
    child.kill('SIGTERM');
    expect((await ended(child)).code).toBe(130);
  });

  it('keeps everything with --keep, and undo reverts it', async () => {
    put('old.txt', 'old\n');
    put('gone.txt', 'gone\n');
    const line = 'echo new >old.txt; rm gone.txt; mkdir d; echo x >d/f';
    const kept = await attempt(['--keep', '--', line]);
    expect(kept.code).toBe(0);
    expect(names()).toEqual(['d', 'old.txt']);
    const [, call = ''] =
      /kept: 2 created, 1 modified, 1 deleted; to take it back: toolexec undo (try_\w+)/.exec(kept.stderr) ??
      [];
    expect((await toolexec.run(['journal', 'show', call])).stdout).toContain('try');
    expect((await toolexec.run(['undo', call])).code).toBe(0);
    expect(names()).toEqual(['gone.txt', 'old.txt']);
    expect(readFileSync(inRoot('old.txt'), 'utf8')).toBe('old\n');
  });

  it('bug: said that the user denied permission, where changes cannot be kept apart', async () => {
    const ran = await attempt(['--root', '/sys', '--', 'true']);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/^toolexec: Cannot try this here: .*"\/sys".* Nothing was run\.\n$/);
  });

  it('keeps nothing without a terminal and without --keep, and says how to keep it', {
    tags: ['soak'],
  }, async () => {
    const ran = await attempt(['--', 'echo x >a']);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toMatch(/discarded: 1 created.*there is no terminal to ask on.*--keep/);
    expect(ran.stderr).toContain('+ a');
    expect(names()).toEqual([]);
  });

  eachOf<[string, boolean]>(
    [
      ['--keep', true],
      ['--discard', false],
    ],
    1,
  )('reports the changes with --json %s, only on standard output', async (option, kept) => {
    put('old.txt', 'old\n');
    const ran = await attempt([option, '--json', '--', 'rm old.txt; echo x >a; echo printed; exit 3']);
    expect(ran.code).toBe(3);
    expect(ran.stderr).toBe('printed\n');
    expect(JSON.parse(ran.stdout)).toMatchObject({
      call: expect.stringMatching(/^try_/),
      exit_code: 3,
      kept,
      changes: { created: ['a'], modified: [], deleted: ['old.txt'] },
    });
    expect(names()).toEqual(kept ? ['a'] : ['old.txt']);
  });

  it('says that nothing was changed, and records no change', { tags: ['soak'] }, async () => {
    const ran = await attempt(['--keep', '--', 'true']);
    expect(ran).toMatchObject({ code: 0, stdout: '', stderr: 'toolexec: nothing was changed\n' });
  });

  it('bug: dropped files that a shell wrote into its home directory counted as kept', async () => {
    const line = 'for i in $(seq 300); do : >~/$i; done; echo one >one.txt';
    const ran = await attempt(['--keep', '--', line]);
    expect(ran.stderr).toContain('kept: 1 created, 0 modified, 0 deleted; to take it back');
    expect(existsSync(inRoot('one.txt'))).toBe(true);
  });

  it('hides secrets, and shows them with --show-secrets', { tags: ['soak'] }, async () => {
    put('.env', 'KEY=hidden-in-file\n');
    const line = 'cat .env; echo "$MY_API_KEY"; echo "$TERM"';
    const env = { MY_API_KEY: 'hidden-in-environment', TERM: 'xterm' };
    const hidden = await attempt(['--discard', '--', line], { env });
    expect(hidden.stdout).toBe('\nxterm\n');
    const shown = await attempt(['--discard', '--show-secrets', '--', line], { env });
    expect(shown.stdout).toBe('KEY=hidden-in-file\nhidden-in-environment\nxterm\n');
  });

  it('protects git hooks even with --show-secrets, and keeps a commit', { tags: ['soak'] }, async () => {
    const git = (...words: string[]): string =>
      execFileSync('git', words, { cwd: toolexec.root, encoding: 'utf8' });
    git('init', '-q');
    git('-c', 'user.name=n', '-c', 'user.email=e@x', 'commit', '-q', '--allow-empty', '-m', 'one');
    const line =
      'git -c user.name=n -c user.email=e@x commit -q --allow-empty -m two; echo x >.git/hooks/post-commit; echo y >b';
    const ran = await attempt(['--keep', '--show-secrets', '--', line]);
    expect(ran.stderr).toMatch(/not kept: \.git\/hooks\/post-commit/);
    expect(git('log', '--format=%s')).toBe('two\none\n');
    expect([existsSync(inRoot('.git/hooks/post-commit')), existsSync(inRoot('b'))]).toEqual([false, true]);
  });

  it('does not keep protected files, or files that another program changed meanwhile, and keeps the rest', async () => {
    put('.env', 'KEY=1\n');
    put('shared', 'one\n');
    const line = 'echo go; read -r _; echo new >.env; echo mine >shared; echo x >a';
    const child = toolexec.start(['try', '--keep', '--', line]);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    put('shared', 'theirs\n');
    child.stdin.end('\n');
    const ran = await ended(child);
    expect(ran.stderr).toMatch(/not kept: \.env: /);
    expect(ran.stderr).toMatch(/not kept: shared: /);
    expect(readFileSync(inRoot('.env'), 'utf8')).toBe('KEY=1\n');
    expect([readFileSync(inRoot('shared'), 'utf8'), existsSync(inRoot('a'))]).toEqual(['theirs\n', true]);
  });

  it('bug: on a full disk it said "not kept", exited with 0, and the next command wrote the change', async () => {
    const line = 'echo a >small; head -c 2000000 /dev/zero >large';
    const script = [
      `mount -t tmpfs -o size=1m none "${toolexec.root}" && cd "${toolexec.root}"`,
      `"$@" try --keep -- '${line}'; echo "exit $?"`,
      `"$@" try --keep --json -- 'echo b >.env'; echo "exit $?"`,
    ].join('\n');
    const words = ['-rm', 'sh', '-c', script, 'sh', process.execPath, toolexec.main];
    const ran = spawnSync('unshare', words, { env: toolexec.environment(), encoding: 'utf8' });
    expect(ran.stderr).toMatch(/not written yet: large: no space left/);
    expect(ran.stderr).toMatch(/kept: 1 created, .*; the rest is written before the next command here/);
    const [first, json, second] = ran.stdout.trim().split('\n');
    expect([first, second]).toEqual(['exit 1', 'exit 1']);
    expect(JSON.parse(json ?? '')).toMatchObject({ kept: false, changes: { refused: [{ path: '.env' }] } });
  });

  it('reaches the network only if it is allowed', { tags: ['soak'] }, async () => {
    const line = 'ls /sys/class/net 2>/dev/null; grep -c : /proc/net/dev';
    const count = async (...words: string[]): Promise<number> =>
      Number((await attempt(['--discard', ...words, '--', line])).stdout.trim().split('\n').at(-1));
    expect(await count('--no-network')).toBe(1);
    const here = readFileSync('/proc/net/dev', 'utf8').match(/:/g)?.length;
    expect(await count()).toBe(here);
  });

  it('runs in the current directory inside a root, and can write to several roots', {
    tags: ['soak'],
  }, async () => {
    put('sub/x', '');
    const other = join(toolexec.folder, 'other');
    mkdirSync(other);
    const line = `pwd; echo 1 >here; echo 2 >${other}/there`;
    const words = ['--keep', '--root', toolexec.root, '--root', other, '--', line];
    const ran = await attempt(words, { cwd: inRoot('sub') });
    expect(ran.stdout).toBe(`${inRoot('sub')}\n`);
    expect([existsSync(inRoot('sub/here')), existsSync(join(other, 'there'))]).toEqual([true, true]);
  });

  it('exits with 127 for a missing program, and with 128 plus the signal that ended the command', {
    tags: ['soak'],
  }, async () => {
    expect((await attempt(['--keep', '--', 'no-such-program-here'])).code).toBe(127);
    expect((await attempt(['--keep', '--', 'kill -TERM $$'])).code).toBe(143);
  });

  it.each<[string[], RegExp]>([
    [['try'], /Cannot open a shell: there is no terminal/],
    [['try', '--keep', '--discard', '--', 'true'], /--keep.*cannot be used with.*--discard/],
    [['try', '--root', '/nowhere/at/all', '--', 'true'], /nowhere/],
    [['try', '--kepp', '--', 'true'], /unknown option '--kepp'/i],
  ])('refuses %s in one line', async (words, why) => {
    const ran = await toolexec.run(words);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(why);
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('runs nothing if a transaction is impossible, and says why in one line', async () => {
    const ran = await attempt(['--keep', '--root', '/', '--journal', '/dev/shm/x', '--', 'echo ran']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('bug: said twice that nothing was run, and what a model is to do, if the journal cannot be written', () => {
    const journal = join(toolexec.folder, 'elsewhere', 'j.db');
    const words = `'${process.execPath}' '${toolexec.main}' try --keep --journal '${journal}' -- 'echo x >a'`;
    // No file may become larger, as on a full disk.
    const { status, stderr } = spawnSync('bash', ['-c', `ulimit -f 4; ${words}`], {
      cwd: toolexec.root,
      env: toolexec.environment(),
      encoding: 'utf8',
    });
    expect([status, names()]).toEqual([2, []]);
    expect(stderr).toMatch(
      /^toolexec: Cannot try this here: Cannot use the journal "[^\n]* Nothing was run\.\n$/,
    );
    expect(stderr).not.toMatch(/Nothing was run.*Nothing was run|Tell the person/);
  });
});

describe.skipIf(WHY_NOT !== '' || !hasScreens)(`toolexec try, at a terminal${WHY_NOT}`, () => {
  let screens: Screens;
  beforeAll(() => {
    screens = new Screens();
  });
  afterAll(() => screens.close());

  const open = (...words: string[]): Screen =>
    screens.open([process.execPath, toolexec.main, 'try', ...words], {
      cwd: toolexec.root,
      env: toolexec.environment({ NO_COLOR: '1', SHELL: '/bin/bash', PS1: 'in> ' }),
    });
  /** A prompt discards keys typed before it was drawn. */
  const answer = async (screen: Screen, key: string): Promise<void> => {
    await pause(700);
    screen.press(key);
  };

  it('opens a shell with jobs and sizes on its own terminal, and keeps the chosen changes', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    put('old.txt', 'old\n');
    const screen = open();
    await screen.shows(/[$#>] $/m);
    screen.type('sleep 300 & jobs; rm old.txt; mkdir -p d/e; echo x >d/e/f; stty size\n');
    await screen.shows(/Running +sleep 300[\s\S]*40 100/);
    screen.resize(90, 30);
    await pause(500);
    screen.type('stty size; test -t 0 && tty\n');
    await screen.shows(/30 90\n\/dev\/pts\//);
    screen.type('sleep 200\n');
    await pause(500);
    screen.press('C-z');
    await screen.shows(/Stopped +sleep 200/);
    screen.type('cat\n');
    await pause(300);
    screen.press('C-c');
    screen.type('echo "after $?"\n');
    await screen.shows('after 130');
    screen.type('exit\nexit 0\n');
    await screen.shows(
      /4 changes, not kept yet: 1 deleted \(1 file\), 3 created[\s\S]*- old\.txt[\s\S]*\+ d\/[\s\S]*\+ e\/[\s\S]*\+ f/,
    );
    await screen.shows('Keep these changes?');
    await answer(screen, 'k');
    const { code, text } = await screen.ended();
    expect(text).toMatch(/kept: 3 created, 0 modified, 1 deleted; to take it back: toolexec undo try_/);
    expect(code).toBe(0);
    expect(names()).toEqual(['d']);
  });

  it('keeps only the chosen paths, and shows differences', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    put('a.txt', 'one\n');
    put('b.txt', 'two\n');
    const screen = open('--', 'echo uno >a.txt; echo due >b.txt; mkdir -p x/y; echo 1 >x/y/z; echo 2 >w');
    await screen.shows('Keep these changes?');
    await answer(screen, 'Space');
    await screen.shows(/- one[\s\S]*\+ uno[\s\S]*Keep these changes\?/);
    await answer(screen, 'p');
    await screen.shows('Paths to keep');
    await pause(700);
    screen.type('a.txt x/**\n');
    await screen.shows(/b\.txt.*left out[\s\S]*Keep \d of \d/);
    await answer(screen, 'k');
    await screen.ended();
    expect([readFileSync(inRoot('a.txt'), 'utf8'), readFileSync(inRoot('b.txt'), 'utf8')]).toEqual([
      'uno\n',
      'two\n',
    ]);
    expect(names()).toEqual(['a.txt', 'b.txt', 'x']);
    expect(existsSync(inRoot('x/y/z'))).toBe(true);
  });

  it('discards with d, and after a second Ctrl-C', { tags: ['soak'], timeout: 180_000 }, async () => {
    for (const keys of [['d'], ['C-c', 'C-c']]) {
      const screen = open('--', 'echo x >a');
      await screen.shows('Keep these changes?');
      for (const key of keys) await answer(screen, key);
      const { code, text } = await screen.ended();
      expect([code, text.includes('discarded: 1 created')]).toEqual([keys.length === 1 ? 0 : 130, true]);
      expect(names()).toEqual([]);
    }
  });

  it('lends the terminal to a full-screen program, and asks when that has ended', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    put('long.txt', Array.from({ length: 200 }, (_, at) => `line ${at}\n`).join(''));
    const screen = open('--', 'less long.txt; echo seen >s');
    await screen.shows('line 30');
    screen.press('G');
    await screen.shows('line 199');
    screen.press('q');
    await screen.shows('Keep these changes?');
    await answer(screen, 'k');
    expect((await screen.ended()).code).toBe(0);
    expect(names()).toEqual(['long.txt', 's']);
  });

  it('bug: asked over a pager at the end of a pipe, and both read the keys', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const line = `'${process.execPath}' '${toolexec.main}' try -- 'seq 200; echo x >a' | less`;
    const screen = screens.open(['sh', '-c', line], {
      cwd: toolexec.root,
      env: toolexec.environment({ NO_COLOR: '1', PATH: process.env.PATH ?? '' }),
    });
    await screen.shows('39');
    // The end of the output, which less finds only if the pipe is closed.
    screen.press('G');
    expect(await screen.shows('200')).not.toContain('Keep these');
    screen.press('q');
    await screen.shows('Keep these changes?');
    await answer(screen, 'k');
    await screen.ended();
    expect(names()).toEqual(['a']);
  });

  it('bug: waited forever at the end of a pipe for a terminal that an earlier program left without lines', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const piped = (reader: string, env: Readonly<Record<string, string>>): Screen => {
      const line = `stty -icanon; '${process.execPath}' '${toolexec.main}' try -- 'echo x >a' | ${reader}`;
      return screens.open(['sh', '-c', line], {
        cwd: toolexec.root,
        env: toolexec.environment({ NO_COLOR: '1', PATH: process.env.PATH ?? '', ...env }),
      });
    };
    // Where nobody is asked, there is nothing to wait for.
    await piped('sleep 60', { CI: '1' }).shows('there is no terminal to ask on');
    const screen = piped('cat', {});
    await screen.shows('Keep these changes?');
    await answer(screen, 'k');
    await screen.ended();
    expect(names()).toEqual(['a']);
  });
});
