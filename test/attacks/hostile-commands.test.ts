import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WHY_NO_SANDBOX } from '../../src/commands/fixtures/sandbox-here.js';
import type { Executor } from '../../src/contract/executor.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { MARKER, PLANTS, REACHES, READS } from './hostile-tables.js';

/*
 * Commands that try to leave the command sandbox, each in another way. None prints the secret that lies
 * beside the root, none leaves anything outside the root, and none prints GAINED.
 */
const SECRET = 'the-secret-beside-the-root';
const outside = realpathSync(mkdtempSync(join(tmpdir(), 'hostile-')));
const root = join(outside, 'root');
const secret = join(outside, 'secret.txt');
const socket = join(outside, 'agent.sock');
let executor: Executor;
let local: Server;
let loopback: Server;
let port = 0;
const reached: string[] = [];

const listen = (server: Server, at: object): Promise<void> =>
  new Promise((done) => server.listen(at, () => done()));

beforeAll(async () => {
  mkdirSync(join(root, '.git', 'hooks'), { recursive: true });
  for (const name of ['objects', 'refs']) mkdirSync(join(root, '.git', name));
  writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(root, '.git/config'), '[core]\n\trepositoryformatversion = 0\n');
  mkdirSync(join(root, '.vscode'));
  writeFileSync(join(root, '.vscode/settings.json'), '{}');
  writeFileSync(join(root, '.gitmodules'), '');
  writeFileSync(join(root, '.env'), SECRET);
  writeFileSync(secret, SECRET);
  const answer = (name: string) => (from: import('node:net').Socket) => {
    reached.push(name);
    from.end(SECRET);
    from.on('error', () => {});
  };
  local = createServer(answer('local'));
  loopback = createServer(answer('loopback'));
  await listen(local, { path: socket });
  await listen(loopback, { port: 0, host: '127.0.0.1' });
  const address = loopback.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  executor = createExecutor({ root, approver: null, policy: null, sandbox: { os: 'required' } });
});
afterAll(async () => {
  await executor?.close();
  local?.close();
  loopback?.close();
  rmSync(outside, { recursive: true, force: true });
});

const target = () => ({ outside, secret, socket, port, pid: process.pid, ppid: process.ppid });
const bash = (command: string) => executor.execute('bash', { command, timeout: 20_000 });

describe.skipIf(WHY_NO_SANDBOX)(`a hostile command${WHY_NO_SANDBOX}`, () => {
  it.each(READS)('reads nothing outside: %s', async (_, command) => {
    const { output, metadata } = await bash(command(target()));
    expect(metadata.sandbox).toMatchObject({ kind: 'bubblewrap', wall: 'bubblewrap' });
    expect(output).not.toContain(SECRET);
    expect(output).not.toContain('GAINED');
    expect(readFileSync(secret, 'utf8')).toBe(SECRET);
  });

  it.each(REACHES)('does not reach %s', async (_, command) => {
    const abstract = createServer((from) => from.end());
    await listen(abstract, { path: `\0toolexec-${process.pid}` });
    try {
      expect((await bash(command(target()))).output).not.toContain('GAINED');
      expect(reached).toEqual([]);
    } finally {
      abstract.close();
    }
  });

  it.each(PLANTS)('plants nothing in %s', async (_, command) => {
    await bash(command(target()));
    const kept = ['.git/config', '.gitmodules', '.vscode/settings.json'].map((name) =>
      readFileSync(join(root, name), 'utf8'),
    );
    expect(kept.join()).not.toContain(MARKER);
    expect(readdirSync(join(root, '.git/hooks'))).toEqual([]);
    expect(readdirSync(join(root, '.vscode'))).toEqual(['settings.json']);
    expect(['config.worktree', 'commondir'].filter((name) => existsSync(join(root, '.git', name)))).toEqual(
      [],
    );
    expect(readdirSync(outside).toSorted()).toEqual(['agent.sock', 'root', 'secret.txt']);
    expect(
      ['/etc/ld.so.preload', '/tmp/x', '/dev/shm/x', '/var/tmp/x'].filter((path) => existsSync(path)),
    ).toEqual([]);
    expect(readFileSync(secret, 'utf8')).toBe(SECRET);
  });

  it('leaves no core dump and no shared memory on the machine', async () => {
    // Other processes have theirs there: our own pipes, and the servers that other tests start at the same time.
    const left = (): readonly string[] =>
      readdirSync('/dev/shm').filter((name) => !/^(?:toolexec-|PostgreSQL\.)/.test(name));
    const before = left();
    await bash(
      "ulimit -c unlimited; sh -c 'kill -SEGV $$'; dd if=/dev/zero of=/dev/shm/left bs=1k count=1 2>&1; true",
    );
    expect(left()).toEqual(before);
    expect(readdirSync(outside).toSorted()).toEqual(['agent.sock', 'root', 'secret.txt']);
  });

  it('makes a name that is denied, and no file tool reads it', async () => {
    await bash(
      'echo own > key.pem; mkdir -p deep/.ssh node_modules/x; echo own > deep/.ssh/id; echo own > node_modules/x/.env',
    );
    for (const path of ['key.pem', 'deep/.ssh/id', 'node_modules/x/.env']) {
      expect(await executor.execute('read_file', { path })).toMatchObject({ success: false });
    }
    const { output } = await bash('cat key.pem deep/.ssh/id; cat node_modules/x/.env');
    // In a transaction none of them is created. Without one, those in other people's code are not hidden.
    expect(output.match(/own/g)?.length ?? 0).toBeLessThanOrEqual(1);
  });
});
