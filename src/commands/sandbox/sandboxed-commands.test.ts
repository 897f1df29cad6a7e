import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandRequest, Confinement } from '../../contract/processes.js';
import { living, sleepToken, TREES } from '../fixtures/nasty-trees.js';
import { WHY_NO_SANDBOX } from '../fixtures/sandbox-here.js';
import { runCommand } from '../run-command.js';
import { OFFLINE_ENVIRONMENT } from './offline-environment.js';

const outside = realpathSync(mkdtempSync(join(tmpdir(), 'sandboxed-')));
afterAll(() => rmSync(outside, { recursive: true, force: true }));
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(outside, 'root-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const PATH = '/usr/local/bin:/usr/bin:/bin';

function confine(more: Partial<Confinement> = {}): Confinement {
  return {
    os: 'required',
    network: false,
    roots: [root],
    readable: [],
    guarded: () => ({ hidden: [], readOnly: [], missing: [join(root, '.git')], incomplete: false }),
    ...more,
  };
}

function run(command: string, more: Partial<CommandRequest> = {}) {
  const signal = AbortSignal.timeout(20_000);
  return runCommand({
    shell: 'bash',
    command,
    cwd: root,
    env: { PATH, HOME: '/root' },
    signal,
    keepBytes: 1 << 20,
    confinement: confine(),
    ...more,
  });
}

const out = async (command: string, more: Partial<CommandRequest> = {}): Promise<string> => {
  const { stdout, stderr } = await run(command, more);
  return stdout.head + stderr.head;
};

describe.skipIf(WHY_NO_SANDBOX)(`a command inside the sandbox${WHY_NO_SANDBOX}`, () => {
  it('says which sandbox it is in', async () => {
    expect((await run('true')).sandbox).toEqual({ kind: 'bubblewrap', network: false });
    const plain = await run('true', { confinement: confine({ os: 'off' }) });
    expect(plain.sandbox).toEqual({ kind: 'none', network: true });
  });

  it('has the same exit code, signal, streams, shell and directory as without it', async () => {
    for (const code of [0, 1, 127, 128, 130, 137, 143, 255]) {
      expect(await run(`exit ${code}`)).toMatchObject({ exitCode: code, signal: null });
    }
    for (const signal of ['KILL', 'TERM', 'SEGV', 'ABRT', 'XCPU', 'HUP']) {
      expect(await run(`kill -${signal} $$`)).toMatchObject({ exitCode: null, signal: `SIG${signal}` });
    }
    expect(
      await out('echo "$0" "$1"; pwd; cat; echo err >&2; echo x > /dev/stdout; echo y > /dev/stderr'),
    ).toBe(`bash \n${root}\nx\nerr\ny\n`);
    expect(await out('echo "$0"', { shell: 'sh' })).toBe('sh\n');
  });

  it('cannot end the process that reports its end', async () => {
    const outcome = await run('kill -9 $PPID; kill -9 1; echo still here; exit 3');
    expect(outcome).toMatchObject({ exitCode: 3, signal: null, stdout: { head: 'still here\n' } });
  });

  it.each([
    ': > /proc/1/fd/4',
    'yes "" 2>/dev/null | head -c 4096 > /proc/1/fd/4',
    'printf "ended 0\\n" > /proc/1/fd/4',
  ])('cannot pretend that it never ran: %s', async (forgery) => {
    const outcome = await run(`${forgery}; sleep 0.05; echo done; exit 3`);
    expect(outcome).toMatchObject({ exitCode: 3, signal: null, stdout: { head: 'done\n' } });
  });

  it('has only the given environment and the switches for programs without a network', async () => {
    const said = await out("env | sed 's/=.*//' | sort | tr '\\n' ' '", {
      env: { PATH, HOME: '/root', ONLY: 'this' },
    });
    const added = new Set(Object.keys(OFFLINE_ENVIRONMENT));
    const others = said.split(' ').filter((name) => !added.has(name));
    expect(others.join(' ')).toBe('HOME ONLY PATH PWD SHLVL TOOLEXEC_CALL _ ');
  });

  it('cannot read, trace or impersonate the process that reports on it', async () => {
    const said = await out(
      'cat /proc/1/environ /proc/1/maps /proc/1/fd/4; echo x > /proc/1/mem; echo "ended 0" > /proc/1/fd/4; cat /dev/toolexec/sh',
    );
    expect(said.match(/Permission denied/g)).toHaveLength(6);
    const [ptrace, pidfdOpen, pidfdGet] = process.arch === 'arm64' ? [117, 434, 438] : [101, 434, 438];
    const tracing = `perl -e '
      print syscall(${ptrace}, 16, 1, 0, 0), " ", syscall(${ptrace}, 0x4206, 1, 0, 0), " ";
      print syscall(${pidfdGet}, syscall(${pidfdOpen}, 1, 0), 4, 0), "\n"'`;
    expect(await out(tracing)).toBe('-1 -1 -1\n');
    // A command may trace its own processes.
    const own = `perl -e 'my $child = fork; if (!$child) { sleep 5; exit } print syscall(${ptrace}, 0x4206, $child, 0, 0) == 0 ? "traced" : $!; kill 9, $child'`;
    expect(await out(own)).toBe('traced');
  });

  it('opens sockets of the families that programs need, and no others', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const families = {
      unix: 1,
      ip: 2,
      ip6: 10,
      ax25: 3,
      packet: 17,
      bluetooth: 31,
      alg: 38,
      vsock: 40,
      netlink: 16,
    };
    const script = Object.values(families)
      .map(
        (family) =>
          `print socket(my $s, ${family}, 1 + 2 * (${family} == 16), 0) ? "open" : "shut " . ($! + 0), "\n";`,
      )
      .join('');
    const shut = Array.from({ length: 5 }, () => 'shut 97');
    expect(await out(`perl -e '${script}'`)).toBe(['open', 'open', 'open', ...shut, 'open', ''].join('\n'));
    expect(await out(`perl -e 'print socket(my $s, 16, 3, 15) ? "open" : "shut"'`)).toBe('shut');
    const [uring, keyctl] = process.arch === 'arm64' ? [425, 219] : [425, 250];
    expect(await out(`perl -e 'print syscall(${uring}, 8, 0), " ", syscall(${keyctl}, 0, -3, 0)'`)).toBe(
      '-1 -1',
    );
  });

  it('cannot create a setuid file', async () => {
    const said = await out(
      `cp /bin/true own; for mode in u+s g+s 6755 2755; do chmod $mode own && echo made; done; install -m 4755 own two && echo made;
      mkdir -m 2755 d && echo made; perl -e 'use Fcntl; print sysopen(my $f, "three", O_CREAT | O_RDWR, 04755) ? "made" : ""'; chmod 1755 own && ls -l own | cut -c1-10`,
    );
    expect(said).not.toContain('made');
    expect(said.match(/Operation not permitted/g)?.length).toBeGreaterThan(4);
    expect(said).toMatch(/-rwxr-xr-t/);
  });

  it('writes in the roots, and nowhere else on the machine', async () => {
    await run(
      `echo in > inside; echo out > ${outside}/escaped; echo x > /usr/escaped; echo x > /tmp/gone; echo x > ~/gone`,
    );
    expect(readFileSync(join(root, 'inside'), 'utf8')).toBe('in\n');
    expect(existsSync(join(outside, 'escaped'))).toBe(false);
    expect(existsSync('/usr/escaped') || existsSync('/tmp/gone') || existsSync('/root/gone')).toBe(false);
    expect(await out('echo x > /escaped || echo x > /etc/escaped || cat /tmp/gone')).toMatch(
      /Read-only file system/,
    );
  });

  it('does not see files beside the roots', async () => {
    writeFileSync(join(outside, 'secret'), 'beside');
    expect(await out(`cat ${outside}/secret`)).toMatch(/No such file/);
    const here = `${dirname(dirname(import.meta.dirname))}/index.ts`;
    expect(await out(`cat ${here}; ls ~`)).toMatch(/No such file[^\n]*\n$/);
    expect(await out('ls -d /run /var/lib/* /home/* /etc/shadow /sys 2>&1 | grep -v "No such"')).toBe('');
  });

  it('reaches neither network nor sockets of the machine', async () => {
    const server = createServer((socket) => socket.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const connect = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
    const local = createServer((socket) => socket.end('reached'));
    const path = join(outside, 'socket');
    await new Promise<void>((resolve) => local.listen(path, resolve));
    try {
      expect(await out(connect)).toMatch(/Connection refused|unreachable/);
      expect(await out(connect, { confinement: confine({ network: true }) })).toBe('reached');
      expect(
        await out(`node -e 'require("net").connect("${path}").on("error", (e) => console.log(e.code))'`),
      ).toBe('ENOENT\n');
    } finally {
      server.close();
      local.close();
    }
  });

  it('sees and signals no process outside', async () => {
    expect(await out(`kill -0 ${process.pid}; ls /proc | grep -c '^[0-9]'`)).toMatch(/No such process\n?/);
    expect(Number(await out(`ls -d /proc/[0-9]* | wc -l`))).toBeLessThan(8);
    await run('kill -9 -1');
    expect(process.kill(process.pid, 0)).toBe(true);
  });

  it('gets no rights back: no mounts, no namespaces, no capabilities', async () => {
    expect(
      await out(
        'mount -o remount,rw / && echo gained; mount -o remount,rw /usr && echo gained; mount -t tmpfs x /tmp && echo gained; unshare -Ur true && echo gained; unshare -m true && echo gained; true',
      ),
    ).not.toContain('gained');
    expect(await out('grep -E "Cap(Eff|Prm|Bnd)|NoNewPrivs" /proc/self/status')).toMatch(
      /^(Cap\w+:\s0+\n)+NoNewPrivs:\s1\n$/,
    );
  });

  it('has the programs of PATH, in whatever directory they are', async () => {
    const prefix = join(outside, 'prefix');
    mkdirSync(join(prefix, 'bin'), { recursive: true });
    mkdirSync(join(prefix, 'lib'));
    writeFileSync(join(prefix, 'bin', 'own-program'), '#!/bin/sh\ncat "$(dirname "$0")/../lib/part"\n', {
      mode: 0o755,
    });
    writeFileSync(join(prefix, 'lib', 'part'), 'found\n');
    const env = { PATH: `${prefix}/bin:${PATH}`, HOME: '/root' };
    expect(await out(`own-program; echo x > ${prefix}/lib/part`, { env })).toMatch(
      /^found\n[\s\S]*Read-only/,
    );
    expect(await out('node -e 1 && git --version | cut -d" " -f1')).toBe('git\n');
  });

  it('sees the rustup toolchains of a home directory read-only, and nothing else there', async () => {
    const home = join(outside, 'home');
    mkdirSync(join(home, '.cargo', 'bin'), { recursive: true });
    mkdirSync(join(home, '.rustup', 'toolchains'), { recursive: true });
    writeFileSync(join(home, '.cargo', 'credentials.toml'), 'token');
    writeFileSync(join(home, '.rustup', 'toolchains', 'own'), 'found\n');
    const env = { PATH: `${home}/.cargo/bin:${PATH}`, HOME: home };
    const look = 'cat ~/.rustup/toolchains/own; echo x >~/.rustup/x; cat ~/.cargo/credentials.toml';
    expect(await out(look, { env })).not.toContain('found');
    writeFileSync(join(home, '.cargo', 'bin', 'rustup'), '', { mode: 0o755 });
    const later = { PATH: `${home}/.cargo/bin:${PATH}:/late`, HOME: home };
    expect(await out(look, { env: later })).toMatch(/^found\n[^\n]*Read-only[^\n]*\n[^\n]*No such file/);
  });

  it('shows the named files, and no others', async () => {
    mkdirSync(join(outside, 'toolchain'), { recursive: true });
    writeFileSync(join(outside, 'toolchain', 'x'), 'shown');
    const confinement = confine({ readable: [join(outside, 'toolchain'), join(outside, 'missing')] });
    expect(await out(`cat ${outside}/toolchain/x; rm ${outside}/toolchain/x`, { confinement })).toMatch(
      /^shown[\s\S]*Read-only/,
    );
  });

  it('is refused if the sandbox cannot be built, instead of running without it', async () => {
    const confinement = confine({ roots: [root, join(outside, 'no-such-root')] });
    await expect(run('touch ran', { confinement })).rejects.toMatchObject({
      code: 'spawn_failed',
      message: expect.stringContaining('no-such-root'),
    });
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });

  it('cannot see secrets, or change code that runs later', async () => {
    mkdirSync(join(root, '.ssh'));
    mkdirSync(join(root, '.vscode'));
    for (const name of ['.env', '.ssh/key', '.vscode/tasks.json', '.envrc'])
      writeFileSync(join(root, name), 'before');
    const at = (path: string, type: 'file' | 'dir') => ({ path: join(root, path), type });
    const guarded = () => ({
      hidden: [at('.env', 'file'), at('.ssh', 'dir')],
      readOnly: [at('.vscode', 'dir'), at('.envrc', 'file')],
      missing: [],
      incomplete: false,
    });
    const said = await out(
      'cat .env .ssh/key; for f in .env .ssh/key .vscode/tasks.json .envrc; do echo after > $f; rm -f $f; mv $f x; done; mv .vscode y',
      { confinement: confine({ guarded }) },
    );
    expect(said).not.toContain('before');
    for (const name of ['.env', '.ssh/key', '.vscode/tasks.json', '.envrc']) {
      expect(readFileSync(join(root, name), 'utf8')).toBe('before');
    }
  });
});

describe.skipIf(WHY_NO_SANDBOX)(
  `a process that a command inside the sandbox has started${WHY_NO_SANDBOX}`,
  () => {
    for (const [index, [name, tree]] of Object.entries(TREES).entries()) {
      const options = { timeout: 180_000, ...(index < 6 ? {} : { tags: ['soak'] }) };
      it(`is gone when the command ends or is stopped: ${name}`, options, async () => {
        const token = sleepToken();
        const command = tree.replaceAll('TOKEN', token);
        const { exitCode, stdout, survivors } = await run(command);
        expect([exitCode, stdout.head, survivors]).toEqual([0, 'ready\n', []]);
        expect(living(token)).toEqual([]);
        const stop = new AbortController();
        const stopped = await run(`${command}; sleep ${token}`, {
          signal: stop.signal,
          onOutput: () => void setTimeout(() => stop.abort(), 30),
        });
        expect(stopped).toMatchObject({ aborted: true, survivors: [] });
        expect(living(token)).toEqual([]);
      });
    }

    it('may clean up first', async () => {
      const stop = new AbortController();
      const command = "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done";
      const { stdout, aborted } = await run(command, {
        signal: stop.signal,
        onOutput: () => void setTimeout(() => stop.abort(), 10),
      });
      expect([stdout.head, aborted]).toEqual(['ready\nbye\n', true]);
    });

    it('may finish its last output', async () => {
      const command = 'for i in 1 2 3; do echo $i; done > >(sleep 0.02; tr 1-3 a-c)';
      expect(await out(command)).toBe('a\nb\nc\n');
    });
  },
);
