import { afterEach, describe, expect, it } from 'vitest';
import { isToolError } from '../errors/tool-error.js';
import { living, sleepToken } from './fixtures/nasty-trees.js';
import { ShellManager } from './shell-manager.js';

afterEach(() => ShellManager.reset());

describe('ShellManager', () => {
  it('is one for all, until it is reset (B039, B040)', async () => {
    const [one, other] = [new ShellManager(), new ShellManager()];
    expect(one).toBe(other);
    const token = sleepToken();
    const shell = await one.createShell(`exec sleep ${token}`, '/tmp');
    expect(other.getShell(shell.id)).toBe(shell);
    await ShellManager.reset();
    expect(shell.status).toBe('killed');
    expect(living(token)).toEqual([]);
    expect(new ShellManager()).not.toBe(one);
    expect(new ShellManager().listShells()).toEqual([]);
  });

  it('creates running shells with unique ids, and finds them (B032–B034)', async () => {
    const manager = new ShellManager();
    const shell = await manager.createShell('sleep 300', '/tmp');
    const other = await manager.createShell('sleep 300', '/tmp');
    expect(shell).toMatchObject({ command: 'sleep 300', cwd: '/tmp', status: 'running', isRunning: true });
    expect(shell.id).toMatch(/^shell_[0-9a-f]{16}$/);
    expect(other.id).not.toBe(shell.id);
    expect(manager.getShell(shell.id)).toBe(shell);
    expect(manager.getShell('shell_xyz')).toBeUndefined();
  });

  it('lists all shells, or the running ones (B035, B036)', async () => {
    const manager = new ShellManager();
    const done = await manager.createShell('true');
    await done.wait();
    const running = [await manager.createShell('sleep 300'), await manager.createShell('sleep 300')];
    expect(manager.listShells()).toEqual([done, ...running]);
    expect(manager.listRunning()).toEqual(running);
  });

  it('forgets shells some time after their end (B037)', async () => {
    const manager = new ShellManager();
    const old = await manager.createShell('true');
    await old.wait();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const running = await manager.createShell('sleep 300');
    const recent = await manager.createShell('true');
    await recent.wait();
    expect(manager.cleanupCompleted(3600)).toBe(0);
    expect(manager.cleanupCompleted(old.endedForMs / 1000)).toBe(1);
    expect(manager.listShells()).toEqual([running, recent]);
  });

  it('kills all running shells, and returns their number (B038)', async () => {
    const manager = new ShellManager();
    await (await manager.createShell('true')).wait();
    for (let count = 0; count < 3; count++) await manager.createShell('sleep 300');
    expect(await manager.killAll()).toBe(3);
    expect(manager.listRunning()).toEqual([]);
    expect(manager.listShells().map(({ status }) => status)).toEqual([
      'completed',
      'killed',
      'killed',
      'killed',
    ]);
  });

  it('registers a shell once, and forgets it once (C013, C014, C023)', async () => {
    const manager = new ShellManager();
    const shell = await manager.createShell('sleep 300');
    const refused = (): void => manager.registerShell(shell);
    expect(refused).toThrow('already exists');
    expect([manager.removeShell(shell.id), manager.removeShell(shell.id)]).toEqual([true, false]);
    expect(manager.getShell(shell.id)).toBeUndefined();
    manager.registerShell(shell);
    expect(manager.listShells()).toEqual([shell]);
  });

  it('refuses values that are not a command, a directory, an option, an age or a shell', async () => {
    const manager = new ShellManager();
    const create = (...given: readonly unknown[]): Promise<unknown> =>
      Promise.resolve(Reflect.apply(manager.createShell, manager, given));
    const wrong = [
      [5],
      [undefined],
      ['true', 5],
      ['true', '/tmp', null],
      ['true', '/tmp', { shell: 'zsh' }],
      ['true', '/tmp', { timeoutMs: '5' }],
      ['true', '/tmp', { env: { A: 5 } }],
      ['true', '/tmp', { timeout: 5 }],
    ];
    for (const given of wrong)
      await expect(create(...given)).rejects.toMatchObject({ code: 'config_invalid' });
    for (const age of [Number.NaN, -1, 'x'])
      expect(() => Reflect.apply(manager.cleanupCompleted, manager, [age])).toThrow('maxAgeSeconds');
    for (const shell of [{}, null])
      expect(() => Reflect.apply(manager.registerShell, manager, [shell])).toThrow('not a shell');
    expect(manager.listShells()).toEqual([]);
  });

  it('starts shells with the given environment, without variables that have no value', async () => {
    const env = { PATH: process.env.PATH, GIVEN: 'a', LEFT_OUT: undefined };
    const command = 'env | grep -E "^(GIVEN|LEFT_OUT|HOME)="';
    const shell = await new ShellManager().createShell(command, '/tmp', { env });
    await shell.wait();
    expect(shell.stdoutBuffer).toBe('GIVEN=a\n');
  });

  it('does not keep a shell that could not be started', async () => {
    const manager = new ShellManager();
    const error: unknown = await manager.createShell('true', '/nowhere').catch((thrown: unknown) => thrown);
    expect(isToolError(error, 'spawn_failed')).toBe(true);
    expect(manager.listShells()).toEqual([]);
  });
});

describe('a shell', () => {
  const start = (command: string, options = {}) => new ShellManager().createShell(command, '/tmp', options);

  it.each([
    ['exit 0', 'completed', 0],
    ['exit 3', 'failed', 3],
    ['kill -9 $$', 'failed', null],
  ])('that runs %s ends as %s (B043)', async (command, status, exitCode) => {
    const shell = await start(command);
    expect(await shell.wait()).toBe(status);
    expect(shell).toMatchObject({ status, isRunning: false, exitCode });
  });

  it('stays ended', async () => {
    const shell = await start('exit 0');
    await shell.wait();
    expect(await shell.kill()).toBe(false);
    expect(await shell.wait(1)).toBe('completed');
    const killed = await start('sleep 300');
    expect(await Promise.all([killed.kill(), killed.wait(1), killed.kill()])).toEqual([true, 'killed', true]);
    expect(killed.status).toBe('killed');
  });

  it('ends when a wait reaches its timeout (B050)', async () => {
    const [shell, other] = [await start('sleep 300'), await start('sleep 300')];
    expect(await shell.wait(100)).toBe('timeout');
    expect(other.status).toBe('running');
  });

  it('continues if a wait has no timeout', async () => {
    const shell = await start('sleep 300');
    for (const time of [Number.NaN, -1]) {
      await expect(shell.wait(time)).rejects.toMatchObject({ code: 'config_invalid' });
    }
    expect(shell.status).toBe('running');
  });

  it('may have an infinite timeout, but not a timeout of zero', async () => {
    const shell = await start('sleep 0.3', { timeoutMs: Number.POSITIVE_INFINITY });
    expect(await shell.wait()).toBe('completed');
    for (const timeoutMs of [0, -1, Number.NaN]) {
      await expect(start('true', { timeoutMs })).rejects.toMatchObject({ code: 'config_invalid' });
    }
  });

  it('returns the new output, and remembers how far it was read (B041, B042)', async () => {
    const shell = await start("printf 'line1\\n'; read -t 0.5 < <(sleep 9); printf 'line2\\nline3\\n'");
    while (shell.stdoutBuffer === '') await new Promise((resolve) => setTimeout(resolve, 5));
    expect(shell.getNewOutput()).toBe('line1\n');
    expect(shell.lastReadStdout).toBe(6);
    await shell.wait();
    expect(shell.getNewOutput()).toBe('line2\nline3\n');
    expect(shell.lastReadStdout).toBe(18);
    expect(shell.getNewOutput()).toBe('');
    expect(shell.stdoutBuffer).toBe('line1\nline2\nline3\n');
    const loud = await start('echo out; echo err >&2');
    await loud.wait();
    expect(loud.getNewOutput({ includeStderr: false })).toBe('out\n');
    expect(loud.getNewOutput({ includeStderr: true })).toBe('[stderr]\nerr\n');
  });

  it('never returns half a character', async () => {
    const shell = await start("printf 'a\\303'; sleep 0.3; printf '\\274b'");
    let all = '';
    while (shell.isRunning) {
      const part = shell.getNewOutput();
      expect(part).not.toContain('\ufffd');
      all += part;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(all + shell.getNewOutput()).toBe('aüb');
  });

  it('keeps the newest 10 MiB of each stream (B041)', async () => {
    const shell = await start('head -c 12000000 /dev/zero | tr "\\0" x; printf END');
    await shell.wait();
    expect(shell.stdoutTruncated).toBe(true);
    expect(shell.stderrTruncated).toBe(false);
    expect(shell.stdoutBuffer.endsWith('xEND')).toBe(true);
    expect(shell.stdoutBuffer.length).toBe(10_485_760);
  });

  it('reports its duration, which no longer grows after the end (B044)', async () => {
    const shell = await start('sleep 0.5');
    await shell.wait();
    const { durationMs } = shell;
    expect(durationMs).toBeGreaterThanOrEqual(495);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(shell.durationMs).toBe(durationMs);
  });

  it('has an environment without secrets', async () => {
    process.env.SOME_SERVICE_TOKEN = 'very-secret-value';
    const shell = await start('env');
    delete process.env.SOME_SERVICE_TOKEN;
    await shell.wait();
    expect(shell.stdoutBuffer).toContain('GIT_PAGER=cat');
    expect(shell.stdoutBuffer).not.toContain('very-secret-value');
  });
});
