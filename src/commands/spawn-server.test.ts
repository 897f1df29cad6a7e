import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandRequest } from '../contract/processes.js';
import { findOrphanHolder } from '../platform/process/hold-orphans.js';
import { living, sleepToken } from './fixtures/nasty-trees.js';
import { runCommand } from './run-command.js';

const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'spawn-server-')));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const PATH = '/usr/local/bin:/usr/bin:/bin';

function run(command: string, more: Partial<CommandRequest> = {}) {
  const signal = AbortSignal.timeout(15_000);
  return runCommand({ shell: 'bash', command, cwd, env: { PATH }, signal, keepBytes: 1 << 20, ...more });
}

const isHeld = findOrphanHolder() !== undefined;

/** The parent of the command, or of the shell that ends its remaining processes. */
const parentOf = async (): Promise<number> => {
  const ask = isHeld ? 'cut -d " " -f 4 /proc/$PPID/stat' : 'echo $PPID';
  return Number((await run(ask)).stdout.head);
};

/** Runs commands until one is started by a process other than this one. */
async function serverPid(): Promise<number> {
  for (;;) {
    const pid = await parentOf();
    if (pid !== process.pid) return pid;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Children of the server that have not become a command yet. */
function waitingShells(server: number): number[] {
  return readFileSync(`/proc/${server}/task/${server}/children`, 'latin1')
    .split(' ')
    .filter((pid) => pid !== '' && /(^|\/)sh\0-s\0$/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1')))
    .map(Number);
}

// The first command of a program is started directly, and the server is ready some time later.
describe.skipIf(process.platform !== 'linux')('commands that the spawn server starts', () => {
  beforeAll(async () => {
    await serverPid();
  });

  it('can still be started if the pipes of the server are removed, and running ones continue', async () => {
    const running = run('sleep 1; echo done');
    for (const name of readdirSync('/dev/shm').filter((name) =>
      name.startsWith(`toolexec-pipes-${process.pid}-`),
    ))
      rmSync(join('/dev/shm', name), { recursive: true });
    for (let round = 0; round < 12; round++) expect((await run('echo hi')).stdout.head).toBe('hi\n');
    expect((await running).stdout.head).toBe('done\n');
    // The server has created new pipes.
    await serverPid();
  });

  it('report exactly their exit code or signal', async () => {
    for (const code of [0, 1, 2, 126, 127, 128, 129, 130, 137, 141, 143, 255]) {
      expect(await run(`exit ${code}`)).toMatchObject({ exitCode: code, signal: null });
    }
    for (const name of ['HUP', 'KILL', 'TERM', 'USR1']) {
      expect(await run(`kill -${name} $$`)).toMatchObject({ exitCode: null, signal: `SIG${name}` });
    }
    // Shells do not report these signals. As in the sandbox, an exit code identifies them, unless it is ambiguous.
    for (const [name, exitCode] of [
      ['INT', 130],
      ['PIPE', 141],
    ] as const) {
      const end = isHeld ? { exitCode, signal: null } : { exitCode: null, signal: `SIG${name}` };
      expect(await run(`kill -${name} $$`)).toMatchObject(end);
    }
  });

  it('get command, directory and environment unchanged, with any content', async () => {
    const odd = 'a\n"b\' $(touch injected) `touch injected`; \\ \t ü😀 {"id":1}\n';
    const env = { PATH, ODD: odd, 'npm_config_//x.y/:z': '1' };
    const ask = 'printf "%s|%s" "$ODD" "$0"; env | grep -c "^npm_config_//x.y/:z=1$"';
    expect((await run(ask, { env })).stdout.head).toBe(`${odd}|bash1\n`);
    // From the second one on, they are started in shells that wait for them.
    for (let round = 0; round < 3; round++) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      const words = `printf '[%s]' '${odd.replaceAll("'", `'\\''`)}' '' '$HOME'`;
      expect((await run(words)).stdout.head).toBe(`[${odd}][][$HOME]`);
    }
    expect((await run(`printf '%s' '${'x'.repeat(100_000)}'`)).stdout.totalBytes).toBe(100_000);
    expect(existsSync(join(cwd, 'injected'))).toBe(false);
  });

  it('get their own environment, not that of the previous command', async () => {
    const ask = (env: Record<string, string>) =>
      run('echo "$A-$B-$TOOLEXEC_CALL"', { env: { PATH, ...env } });
    const outcomes = await Promise.all([ask({ A: '1' }), ask({ B: '2' }), ask({ A: '3' }), ask({})]);
    const said = outcomes.map(({ stdout }) => stdout.head.trim());
    expect(said.map((line) => line.replace(/[0-9a-f]{24}$/, 'mark'))).toEqual([
      '1--mark',
      '-2-mark',
      '3--mark',
      '--mark',
    ]);
    expect(new Set(said.map((line) => line.slice(-24))).size).toBe(4);
  });

  it('start in waiting shells, and see their own directory and environment', async () => {
    const waited = async (more: Partial<CommandRequest> = {}) => {
      const ask =
        'echo "$(stat -c %i .)|$A|$PWD|$OLDPWD|$SHLVL|$-|$BASH_EXECUTION_STRING" | sed "s/|echo.*//"; cut -d " " -f 22 /proc/$PPID/stat';
      const { stdout } = await run(ask, more);
      return stdout.head.split('\n');
    };
    const isReused = async (): Promise<boolean> => {
      const before = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 100;
      return Number((await waited())[1]) < before - 5;
    };
    await expect.poll(isReused, { interval: 200 }).toBe(true);
    expect((await waited())[0]).toBe(`${statSync(cwd).ino}||${cwd}||1|hBc`);
    expect((await waited({ env: { PATH, A: '1', OLDPWD: '/usr' } }))[0]).toBe(
      `${statSync(cwd).ino}|1|${cwd}|/usr|1|hBc`,
    );

    const place = join(cwd, 'place');
    for (let round = 0; round < 6; round++) {
      mkdirSync(place);
      const seen = (await waited({ cwd: place }))[0];
      expect(seen).toBe(`${statSync(place).ino}||${place}||1|hBc`);
      await waited({ cwd: place });
      await new Promise((resolve) => setTimeout(resolve, 50));
      renameSync(place, `${place}-${round}`);
    }
  });

  it('start even before the waiting shell has begun to listen', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    for (let round = 0; round < 60; round++) {
      const outcomes = await Promise.all([run(`echo ${round}`), run('exit 3'), run('echo fine >&2')]);
      expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 3, 0]);
      expect(outcomes[0]?.stdout.head).toBe(`${round}\n`);
    }
  });

  it('fail with an ordinary error if the waiting shell was killed, and the next command runs', async () => {
    const server = await serverPid();
    await run('true');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const waiting = waitingShells(server);
    expect(waiting.length).toBeGreaterThan(0);
    for (const pid of waiting) process.kill(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await run('echo fine')).stdout.head).toBe('fine\n');
  });

  it('have pipes that can be opened by name', async () => {
    const { stdout, stderr, exitCode } = await run('echo out > /dev/stdout; echo err > /dev/stderr');
    expect([stdout.head, stderr.head, exitCode]).toEqual(['out\n', 'err\n', 0]);
  });

  it('run many at once, each with its own output', { tags: ['soak'], timeout: 180_000 }, async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 80 }, (_, index) => run(`echo ${index}; echo ${index} >&2; exit ${index}`)),
    );
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual(Array.from({ length: 80 }, (_, index) => index));
    for (const [index, { stdout, stderr }] of outcomes.entries()) {
      expect([stdout.head, stderr.head]).toEqual([`${index}\n`, `${index}\n`]);
    }
  });

  it('fail like other commands if they cannot be started', async () => {
    const error: unknown = await run('true', { cwd: '/nowhere' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'spawn_failed', details: { errno: 'ENOENT' } });
    const long: unknown = await run(`: ${'x'.repeat(3_000_000)}`).catch((thrown: unknown) => thrown);
    expect(long).toMatchObject({ code: 'spawn_failed', details: { errno: 'E2BIG' } });
  });

  it('die with the server, and later commands still run', async () => {
    const token = sleepToken();
    const server = await serverPid();
    const outcome = await run(`setsid sleep ${token} & echo ready; sleep ${token}`, {
      onOutput(_stream, chunk) {
        if (Buffer.from(chunk).includes('ready')) process.kill(server, 'SIGKILL');
      },
    });
    expect(outcome).toMatchObject({ exitCode: null, aborted: false, survivors: [] });
    expect(outcome.stdout.head).toBe('ready\n');
    expect(living(token)).toEqual([]);
    expect((await run('echo fine')).stdout.head).toBe('fine\n');
    expect(await serverPid()).not.toBe(server);
  });

  it('leave no named pipe behind', async () => {
    await run('true');
    const server = await serverPid();
    const command = readFileSync(`/proc/${server}/cmdline`, 'utf8').split('\0');
    const place = command.find((part) => part.includes('toolexec-pipes-')) ?? '';
    const [folder = ''] = readdirSync(join(place, '..')).filter((name) =>
      join(place, '..', name).startsWith(place),
    );
    for (let count = 0; count < 40; count++) await run('true');
    // As many pipes as are ready, however many were used.
    const left = readdirSync(join(place, '..', folder)).length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(96);
  });
});
