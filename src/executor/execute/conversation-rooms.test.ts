import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WHY_NO_SANDBOX } from '../../commands/fixtures/sandbox-here.js';
import type { Executor } from '../../contract/executor.js';
import { findProgram } from '../../platform/process/find-program.js';
import { eachOf } from '../../testing/fixtures/each-of.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';

let root: string;
let executors: Executor[] = [];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'conversation-rooms-')));
});

afterEach(async () => {
  await Promise.all(executors.map((executor) => executor.close()));
  executors = [];
  rmSync(root, { recursive: true, force: true });
});

function executorOf(options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({ root, approver: null, ...options });
  executors.push(executor);
  return executor;
}

let calls = 0;
async function bash(executor: Executor, command: string, conversation = 'one', more: object = {}) {
  calls++;
  const call = { id: `c${calls}`, name: 'bash', args: { command, ...more } };
  const [result] = await executor.run([call], { conversation });
  if (result === undefined) throw new Error('there is no result');
  return result;
}

/** A port that no other test uses. */
const PORT = 20_000 + (process.pid % 20_000);

/** Node is available wherever the tests run. */
const serving = (port: number, host = '127.0.0.1'): string =>
  `node -e 'require("http").createServer((q, r) => r.end("served")).listen(${port}, "${host}")'`;
const asking = (port: number, host = '127.0.0.1'): string =>
  `node -e 'fetch("http://${host}:${port}").then((r) => r.text()).then(console.log, () => process.exit(7))'`;

async function untilServed(executor: Executor, conversation = 'one') {
  for (let round = 0; ; round++) {
    const result = await bash(executor, asking(PORT), conversation);
    if (result.success || round === 40) return result;
  }
}

function reaches(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
  });
}

/** The rooms started by this process, directly or indirectly: other test files have rooms too. */
function keepers(): string[] {
  return readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && textOf(pid).includes('read -r end') && isOurs(pid),
  );
}

function isOurs(pid: string): boolean {
  for (let at = pid; at !== '' && at !== '0'; at = parentOf(at)) if (at === `${process.pid}`) return true;
  return false;
}

function parentOf(pid: string): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '';
  } catch {
    return '';
  }
}

function textOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

describe.skipIf(WHY_NO_SANDBOX)(`the room of a conversation${WHY_NO_SANDBOX}`, () => {
  it('lets later commands reach a server in the background, and nobody else', async () => {
    const executor = executorOf();
    await bash(executor, serving(PORT), 'one', { run_in_background: true });
    expect((await untilServed(executor)).output).toContain('served');
    // This one runs in a sandbox that was built ahead.
    expect((await bash(executor, asking(PORT))).output).toContain('served');
    const through = executorOf({ sandbox: { transactions: 'off' } });
    await bash(through, serving(PORT), 'one', { run_in_background: true });
    expect((await untilServed(through)).output).toContain('served');
    expect(await bash(executor, asking(PORT), 'another')).toMatchObject({ success: false });
    expect(await bash(executorOf(), asking(PORT), 'one')).toMatchObject({ success: false });
    expect(await reaches(PORT)).toBe(false);
  });

  it('has a loopback and nothing else, and gives no command a capability over it', async () => {
    const executor = executorOf();
    const { output } = await bash(
      executor,
      'cat /proc/net/dev | wc -l; grep -h Cap /proc/self/status; for flag in U n m; do unshare -$flag true; done 2>&1; ls -d /proc/[0-9]* | wc -l',
    );
    expect(output).toMatch(/^3\n/);
    expect(output.match(/Cap\w+:\t0{16}\n/g)).toHaveLength(5);
    expect(output.match(/unshare failed/g)).toHaveLength(3);
  });

  it('ends with the executor', async () => {
    const before = keepers();
    const executor = executorOf();
    await bash(executor, 'true');
    await bash(executor, 'true', 'two');
    const opened = keepers().filter((pid) => !before.includes(pid));
    expect(opened.length).toBeGreaterThan(1);
    await executor.close();
    expect(keepers().filter((pid) => opened.includes(pid))).toEqual([]);
  });
});

describe.skipIf(WHY_NO_SANDBOX)(`what the kernel says${WHY_NO_SANDBOX}`, () => {
  eachOf<[string, string[]]>(
    [
      ['exec 3<>/dev/tcp/192.0.2.1/80', ['network']],
      ['exec 3<>/dev/tcp/192.0.2.1/80 2>/dev/null || exit 1', ['network']],
      ["node -e \"require('net').connect(80, '2001:db8::1')\" 2>/dev/null", ['network']],
      ['getent hosts no.example.com', ['name_lookup']],
      [
        'node -e "fetch(\'https://example.com\').catch(() => process.exit(3))" >/dev/null 2>&1',
        ['name_lookup'],
      ],
      ['exec 3<>/dev/tcp/192.0.2.1/80 2>/dev/null; getent hosts example.com', ['network', 'name_lookup']],
      ["node -e 'require(`fs`).readFileSync(`/var/log/messages`)' 2>/dev/null", ['hidden_file']],
      ['cd /var/lib/dpkg 2>/dev/null', ['hidden_file']],
      ["node -e 'require(`fs`).writeFileSync(`/var/tmp/x`, ``)'", ['write_outside']],
    ],
    2,
  )('explains a command that failed: %s', async (command, refused) => {
    const result = await bash(executorOf(), command);
    expect(result.error?.details).toMatchObject({ refused_by_sandbox: refused });
    expect(result.output).toContain('[The OS sandbox refused this command a ');
  });

  eachOf(
    [
      'exit 3',
      'node -e "fetch(\'http://localhost:9\').catch(() => process.exit(4))"',
      'exec 3<>/dev/tcp/127.0.0.1/9',
      'exec 3<>/dev/udp/127.0.0.1/9; echo x >&3; exit 2',
      'echo "curl: (6) Could not resolve host: example.org" >&2; exit 6',
      'node -e "throw new Error(\'Network is unreachable\')"',
      'cat no-such-file',
      'cat /var/tmp/no-such-file',
      'cat /no-such-top/file',
      'getent hosts localhost; exit 3',
      'ls -la / >/dev/null; exit 3',
      'echo "EROFS: read-only file system, open \'/usr/x\'" >&2; exit 1',
      'node -e \'require("assert").equal("Read-only file system", "EROFS")\'',
      'echo "cat: /etc/hostname: No such file or directory" >words; grep hostname words; exit 1',
      'cat /etc/no-such.conf',
      'cat /tmp/no-such-file',
      'ls /var/no-such',
      'git -c user.name= -c user.email= commit --allow-empty -m x',
    ].map((command): [string] => [command]),
    1,
  )('does not blame the sandbox for what failed by itself: %s', async (command) => {
    const result = await bash(executorOf(), command);
    expect(result).toMatchObject({ success: false });
    expect(result.error?.details?.refused_by_sandbox).toBeUndefined();
    expect(result.output).not.toContain('OS sandbox');
  });

  it.skipIf(findProgram('npm').length === 0)(
    'comes at once, not after the retries of a package manager, which take a minute: npm',
    { tags: ['soak'] },
    async () => {
      const before = performance.now();
      const result = await bash(executorOf(), 'npm init -y && npm install express 2>/dev/null');
      expect(result.error?.details).toMatchObject({ refused_by_sandbox: ['name_lookup'] });
      expect(performance.now() - before).toBeLessThan(30_000);
    },
  );

  it('is the same in a preview, where there is no room', { tags: ['soak'] }, async () => {
    const executor = executorOf();
    const refusals = async (command: string): Promise<unknown> => {
      const preview = await executor.preview([{ id: 'c', name: 'bash', args: { command } }]);
      await preview.discard();
      return preview.results[0]?.error?.details?.refused_by_sandbox;
    };
    expect(await refusals('exec 3<>/dev/tcp/192.0.2.1/80 2>/dev/null || exit 1')).toEqual(['network']);
    expect(await refusals('getent hosts no.example.com 2>/dev/null')).toEqual(['name_lookup']);
    expect(await refusals('exit 3')).toBeUndefined();
  });

  it('is not blamed on a command beside a background shell that tries again and again', {
    tags: ['soak'],
  }, async () => {
    const executor = executorOf();
    const loop = 'while :; do (exec 3<>/dev/tcp/192.0.2.1/80) 2>/dev/null; sleep 0.02; done';
    await bash(executor, loop, 'one', { run_in_background: true });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const result = await bash(executor, 'sleep 0.3; exit 3');
    expect(result.error?.details?.refused_by_sandbox).toBeUndefined();
  });
});

describe.skipIf(WHY_NO_SANDBOX)(`what a silent command names${WHY_NO_SANDBOX}`, () => {
  eachOf<[string, string[] | undefined]>(
    [
      ['cat .env 2>/dev/null', ['hidden_file']],
      ['touch /usr/x 2>/dev/null', ['write_outside']],
      ['mkdir /no-such-top 2>/dev/null', ['write_outside']],
      ['cd sub && cat server.pem 2>/dev/null', ['hidden_file']],
      ['cat /etc/hostname 2>/dev/null', ['hidden_file']],
      ['cat /etc/no-such.conf 2>/dev/null', undefined],
      ['cat /etc/passwd >/dev/null 2>&1; exit 3', undefined],
      ['test -f missing && cat .env 2>/dev/null', undefined],
      ['false || false; if test -f missing; then cat .env; fi 2>/dev/null; exit 3', undefined],
      ['touch /tmp/x; exit 3', undefined],
      ['touch x; cat x; exit 3', undefined],
      ['cat .env >/dev/null 2>&1; echo "it failed for another reason" >&2; exit 3', undefined],
    ],
    1,
  )('explains it if nothing else does: %s', async (command, refused) => {
    writeFileSync(join(root, '.env'), 'A=1');
    mkdirSync(join(root, 'sub'));
    const result = await bash(executorOf(), command);
    expect(result).toMatchObject({ success: false });
    expect(result.error?.details?.refused_by_sandbox).toEqual(refused);
  });
});
