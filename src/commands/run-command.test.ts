import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { CommandRequest } from '../contract/processes.js';
import { isToolError } from '../errors/tool-error.js';
import { findOrphanHolder } from '../platform/process/hold-orphans.js';
import { spawnProcess } from '../platform/process/spawn.js';
import { eachOf } from '../testing/fixtures/each-of.js';
import { someOf } from '../testing/fixtures/share-of-runs.js';
import { FLEES_WITHOUT_A_TRACE, living, sleeping, sleepToken, TREES } from './fixtures/nasty-trees.js';
import { runCommand } from './run-command.js';

const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'run-command-')));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const PATH = '/usr/local/bin:/usr/bin:/bin';

function run(command: string, more: Partial<CommandRequest> = {}) {
  // A mistake must not leave anything running on the machine of the person who runs this test.
  const signal = AbortSignal.timeout(15_000);
  return runCommand({ shell: 'sh', command, cwd, env: { PATH }, signal, keepBytes: 1 << 20, ...more });
}

describe('runCommand()', () => {
  it('gives output and exit code', async () => {
    const outcome = await run('echo hello');
    expect(outcome).toMatchObject({ exitCode: 0, signal: null, aborted: false, survivors: [] });
    expect(outcome.stdout).toEqual({
      head: 'hello\n',
      tail: '',
      totalBytes: 6,
      omittedBytes: 0,
      binary: false,
    });
    expect(outcome.durationMs).toBeGreaterThan(0);
  });

  it('keeps the streams separate, and keeps the output before a failure', async () => {
    const outcome = await run('printf out; printf err >&2; exit 3');
    expect([outcome.exitCode, outcome.stdout.head, outcome.stderr.head]).toEqual([3, 'out', 'err']);
  });

  it.skipIf(process.platform !== 'linux')(
    'gives output under Bun, which reads nothing from a socket of an open file (it lost all output)',
    async () => {
      const start = {
        file: '/bin/sh',
        name: 'sh',
        args: ['-c', 'readlink /proc/self/fd/1'],
        cwd,
        env: { PATH },
      };
      const outputs = async () => text((await spawnProcess(start)).stdout);
      expect(await outputs()).not.toMatch(/^socket:/);
      Object.assign(process.versions, { bun: '1.4.5' });
      onTestFinished(() => {
        Reflect.deleteProperty(process.versions, 'bun');
      });
      expect(await outputs()).toMatch(/^socket:/);
    },
  );

  it('names the signal that ended the command itself', async () => {
    expect(await run('kill -9 $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL', aborted: false });
  });

  it('uses the requested shell', async () => {
    expect(
      (await run('echo "$0" $(type -t type | sed s/builtin/bash/)', { shell: 'bash' })).stdout.head,
    ).toBe('bash bash\n');
    expect((await run('echo "$0"')).stdout.head).toBe('sh\n');
  });

  it('passes the command on unchanged', async () => {
    const command = `printf '%s|' "a  b" 'c"d' '$x' "\\\\" ; cat <<'END'\nü $HOME\nEND`;
    expect((await run(command)).stdout.head).toBe('a  b|c"d|$x|\\|ü $HOME\n');
  });

  it('closes the standard input', async () => {
    expect((await run('cat; read x; echo done')).stdout.head).toBe('done\n');
  });

  it('runs in the given directory with the given environment, and the mark', async () => {
    const { stdout } = await run('pwd -P; env | sed "s/^TOOLEXEC_CALL=[0-9a-f]*$/mark/" | sort', {
      env: { PATH, ONLY: '1' },
    });
    expect(stdout.head).toBe(`${cwd}\nONLY=1\nPATH=${PATH}\nPWD=${cwd}\nmark\n`);
  });

  it('adds its mark to that of the command that started it', async () => {
    const { stdout } = await run('echo $TOOLEXEC_CALL', { env: { PATH, TOOLEXEC_CALL: 'outer' } });
    expect(stdout.head).toMatch(/^outer:[0-9a-f]{24}\n$/);
  });

  it('finds no shell through a relative entry of PATH', async () => {
    expect((await run('echo fine', { env: { PATH: '.:relative' } })).stdout.head).toBe('fine\n');
  });
});

describe('the output of runCommand()', () => {
  it('keeps the start and the end of a long output, half of the limit each', async () => {
    const { stdout } = await run('head -c 1000000 /dev/zero | tr "\\0" a; printf END', { keepBytes: 10 });
    expect(stdout).toEqual({
      head: 'aaaaa',
      tail: 'aaEND',
      totalBytes: 1_000_003,
      omittedBytes: 999_993,
      binary: false,
    });
  });

  it('limits each stream separately', async () => {
    const { stdout, stderr } = await run('printf 123456789; printf abcdef >&2', { keepBytes: 6 });
    expect([stdout.omittedBytes, stderr.omittedBytes, stderr.head]).toEqual([3, 0, 'abcdef']);
  });

  it('keeps a character that arrives in two chunks whole', async () => {
    const chunks: string[] = [];
    const { stdout } = await run("printf '\\303'; sleep 0.1; printf '\\274'", {
      onOutput: (_stream, chunk) => void chunks.push(Buffer.from(chunk).toString('hex')),
    });
    expect(stdout.head).toBe('ü');
    expect(chunks).toEqual(['c3', 'bc']);
  });

  it('replaces bytes that are not UTF-8', async () => {
    expect((await run("printf 'a\\377b'")).stdout.head).toBe('a�b');
  });

  it('is complete if the command exits right after a large write', async () => {
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => run('head -c 3000000 /dev/zero')));
    expect(outcomes.map(({ stdout }) => stdout.totalBytes)).toEqual(Array(8).fill(3_000_000));
  });

  it('is complete even if a process that the shell does not wait for writes the end', async () => {
    const command = 'for i in 1 2 3; do echo $i; done > >(sleep 0.02; tr 1-3 a-c)';
    expect((await run(command, { shell: 'bash' })).stdout.head).toBe('a\nb\nc\n');
  });

  it('needs memory only for the kept part, not for all that is written', { tags: ['soak'] }, async () => {
    const before = process.memoryUsage().rss;
    const { stdout } = await run('head -c 200000000 /dev/zero', { keepBytes: 4096 });
    expect(stdout.totalBytes).toBe(200_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });
});

describe('onOutput', () => {
  it('receives chunks of both streams in order', async () => {
    const heard: string[] = [];
    await run('echo 1; sleep 0.05; echo 2 >&2; sleep 0.05; echo 3', {
      onOutput: (stream, chunk) => void heard.push(`${stream}:${Buffer.from(chunk).toString()}`),
    });
    expect(heard).toEqual(['stdout:1\n', 'stderr:2\n', 'stdout:3\n']);
  });

  it('slows the command down while its promise is pending, and is never called twice at a time', async () => {
    let pending = 0;
    let most = 0;
    let seen = 0;
    const calls: number[] = [];
    const command =
      'for i in 1 2 3 4 5 6 7 8; do head -c 200000 /dev/zero; head -c 200000 /dev/zero >&2; done';
    const { stdout, stderr } = await run(`${command}; sleep 0.3`, {
      async onOutput(_stream, chunk) {
        most = Math.max(most, ++pending);
        await new Promise((resolve) => setTimeout(resolve, 2));
        pending--;
        seen += chunk.length;
        calls.push(chunk.length);
      },
    });
    expect(most).toBe(1);
    expect(stdout.totalBytes + stderr.totalBytes).toBe(3_200_000);
    expect(seen).toBe(3_200_000);
  });

  it('blocks the command while the reader does not read', async () => {
    const abort = new AbortController();
    let heard = 0;
    const done = run('head -c 5000000 /dev/zero; echo finished > finished', {
      signal: abort.signal,
      onOutput: (_stream, chunk) => {
        heard += chunk.length;
        return new Promise(() => {});
      },
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(heard).toBeLessThan(1_000_000);
    expect(readdirSync(cwd)).not.toContain('finished');
    abort.abort();
    expect((await done).aborted).toBe(true);
  });

  it('does not delay the result after the end, even if its promise never resolves', async () => {
    const outcome = await run('echo 1; sleep 0.1; echo 2', { onOutput: () => new Promise(() => {}) });
    expect(outcome).toMatchObject({ exitCode: 0, aborted: false });
    expect(outcome.stdout.head).toBe('1\n2\n');
    expect(outcome.durationMs).toBeLessThan(10_000);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('full'))],
  ])('ends the command when it %s', async (_how, onOutput) => {
    const token = sleepToken();
    await expect(run(`echo 1; sleep ${token}`, { onOutput })).rejects.toThrow('full');
    expect(living(token)).toEqual([]);
  });
});

describe('a command that cannot be started', () => {
  it.each([
    ['a directory that is missing', { cwd: '/nowhere/at/all' }, 'ENOENT', 'working directory'],
    ['a directory that is a file', { cwd: '/etc/passwd' }, 'ENOTDIR', 'working directory'],
    ['a command that is too long', { command: `: ${'x'.repeat(3_000_000)}` }, 'E2BIG', 'too long'],
    ['a NUL in the command', { command: 'echo a\0b' }, 'EINVAL', 'NUL'],
  ])('fails with spawn_failed: %s', async (_what, more, errno, why) => {
    const error: unknown = await run('true', more).catch((thrown: unknown) => thrown);
    expect(isToolError(error, 'spawn_failed')).toBe(true);
    expect(error).toMatchObject({ details: { shell: 'sh', errno } });
    expect(String(error)).toContain(why);
    expect(String(error)).toContain(errno);
  });

  it('does not reveal the value of a variable that cannot be passed on', async () => {
    const error: unknown = await run('true', { env: { A: 'secret\0' } }).catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error)).toContain('EINVAL');
    expect(JSON.stringify(error)).not.toContain('secret');
  });
});

describe('a command that is aborted', () => {
  it('does not start if it was aborted before', async () => {
    const outcome = await run('touch was-started', { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ aborted: true, exitCode: null, survivors: [] });
    expect(outcome.stdout).toEqual({ head: '', tail: '', totalBytes: 0, omittedBytes: 0, binary: false });
    expect(readdirSync(cwd)).not.toContain('was-started');
  });

  it('keeps the output so far', async () => {
    const outcome = await abortWhenReady('echo before; echo ready; sleep 60');
    expect(outcome).toMatchObject({ aborted: true, exitCode: null, signal: 'SIGTERM' });
    expect(outcome.stdout.head).toBe('before\nready\n');
  });

  it('may clean up for a moment', async () => {
    const outcome = await abortWhenReady(
      "trap 'echo tidied; exit 7' TERM; echo ready; while :; do sleep 0.01; done",
    );
    expect(outcome).toMatchObject({ aborted: true, exitCode: 7 });
    expect(outcome.stdout.head).toBe('ready\ntidied\n');
  });

  it('dies even if it ignores SIGTERM', async () => {
    expect(await abortWhenReady("trap '' TERM; echo ready; while :; do sleep 0.01; done")).toMatchObject({
      aborted: true,
      signal: 'SIGKILL',
    });
  });

  eachOf(Object.entries(TREES), 6)('takes all its child processes with it: %s', async (_what, tree) => {
    const token = sleepToken();
    const before = performance.now();
    const outcome = await abortWhenReady(`${tree.replaceAll('TOKEN', token)}; echo ready; sleep ${token}`);
    expect(outcome).toMatchObject({ aborted: true, survivors: [] });
    expect(living(token)).toEqual([]);
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  it('leaves other processes alone', async () => {
    const token = sleepToken();
    const abort = new AbortController();
    const bystander = run(`exec sleep ${token}`, { signal: abort.signal });
    const other = sleepToken();
    await abortWhenReady(`setsid sleep ${other} & echo ready; sleep ${other}`);
    // The bystander may still be starting.
    await expect.poll(() => sleeping(token)).toHaveLength(1);
    abort.abort();
    await bystander;
    expect(living(token)).toEqual([]);
  });
});

describe('a process that a finished command leaves running', () => {
  eachOf(Object.entries(TREES), 6)('does not delay the result, and dies: %s', async (_what, tree) => {
    const token = sleepToken();
    const outcome = await run(tree.replaceAll('TOKEN', token), { shell: 'bash' });
    expect(outcome).toMatchObject({ aborted: false, exitCode: 0, survivors: [] });
    expect(living(token)).toEqual([]);
    expect(outcome.durationMs).toBeLessThan(10_000);
  });

  const isHeld = findOrphanHolder() !== undefined;

  it.skipIf(!isHeld)(
    'dies even if it has erased every trace of its origin (needs perl)',
    { tags: ['soak'], timeout: 180_000 },
    async () => {
      for (const round of someOf([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 4)) {
        const token = sleepToken();
        const tree = FLEES_WITHOUT_A_TRACE.replaceAll('TOKEN', token);
        const outcome =
          round % 2 === 0
            ? await run(tree, { shell: 'bash' })
            : await abortWhenReady(`${tree}; sleep ${token}`);
        expect([outcome.survivors, living(token)]).toEqual([[], []]);
        expect(outcome.sandbox).toEqual({ kind: 'none', network: true });
      }
    },
  );

  it('dies for twelve commands at once', { tags: ['soak'], timeout: 180_000 }, async () => {
    const token = sleepToken();
    const trees = Object.values(TREES);
    const runs = Array.from({ length: 12 }, (_, index) => {
      const command = (trees[index % trees.length] ?? '').replaceAll('TOKEN', token);
      return index % 2 === 0 ? run(command) : abortWhenReady(`${command}; echo ready; sleep ${token}`);
    });
    const outcomes = await Promise.all(runs);
    expect(outcomes.flatMap(({ survivors }) => survivors)).toEqual([]);
    expect(living(token)).toEqual([]);
  });
});

describe('after runCommand() nothing is left', () => {
  it('of listeners, timers and descriptors', async () => {
    const abort = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = abort.signal;
    abort.signal.addEventListener = (...args: unknown[]) => {
      listeners++;
      Reflect.apply(addEventListener, abort.signal, args);
    };
    abort.signal.removeEventListener = (...args: unknown[]) => {
      listeners--;
      Reflect.apply(removeEventListener, abort.signal, args);
    };
    await run('true');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const [descriptors, resources] = [openDescriptors(), activeResources()];
    for (let round = 0; round < 5; round++) {
      await run('echo 1; sleep 60 & echo 2', { signal: abort.signal, onOutput: () => Promise.resolve() });
      await run('true', { cwd: '/nowhere' }).catch(() => {});
      await abortWhenReady('echo ready; sleep 60');
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    const after = activeResources();
    expect(listeners).toBe(0);
    expect(openDescriptors()).toBe(descriptors);
    // Timers of the test runner may have ended in the meantime.
    for (const before of resources) if (after.includes(before)) after.splice(after.indexOf(before), 1);
    expect(after).toEqual([]);
  });
});

function abortWhenReady(command: string) {
  const abort = new AbortController();
  AbortSignal.timeout(15_000).addEventListener('abort', () => abort.abort());
  return run(command, {
    shell: 'bash',
    signal: abort.signal,
    onOutput(_stream, chunk) {
      if (Buffer.from(chunk).toString().includes('ready')) abort.abort();
    },
  });
}

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

function activeResources(): string[] {
  return process.getActiveResourcesInfo().sort();
}
