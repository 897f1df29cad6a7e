import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WHY_NO_SANDBOX } from '../../commands/fixtures/sandbox-here.js';
import type { Executor } from '../../contract/executor.js';
import { bundleProgram } from '../../testing/fixtures/bundle-program.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';

let outside: string;
let root: string;
let executors: Executor[] = [];

beforeEach(() => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'executor-sandbox-')));
  root = join(outside, 'root');
  mkdirSync(root);
  writeFileSync(join(outside, 'secret.txt'), 'the secret');
});
afterEach(async () => {
  await Promise.all(executors.map((executor) => executor.close()));
  executors = [];
  rmSync(outside, { recursive: true, force: true });
});

function executorOf(options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({ root, approver: null, ...options });
  executors.push(executor);
  return executor;
}

const bash = (executor: Executor, command: string) => executor.execute('bash', { command });

describe.skipIf(WHY_NO_SANDBOX)(`commands of an executor${WHY_NO_SANDBOX}`, () => {
  it('are inside the command sandbox unless it is switched off, and say which one stood', async () => {
    const sandboxed = await bash(executorOf(), `cat ../secret.txt ${outside}/secret.txt`);
    expect(sandboxed).toMatchObject({
      success: false,
      metadata: { sandbox: { kind: 'bubblewrap', wall: 'bubblewrap', network: false } },
    });
    expect(sandboxed.output).not.toContain('the secret');
    const plain = await bash(executorOf({ sandbox: { os: 'off' } }), 'cat ../secret.txt');
    expect(plain).toMatchObject({
      output: 'the secret',
      metadata: { sandbox: { kind: 'none', wall: 'none', network: true, transaction: false } },
    });
  });

  it('report which files they were refused', { tags: ['soak'] }, async () => {
    const executor = executorOf();
    const refused = async (command: string): Promise<unknown> => {
      const { output, metadata, error } = await bash(executor, command);
      expect(output).toContain('[The OS sandbox refused this command ');
      expect(metadata.sandbox).toMatchObject({ refused: error?.details?.refused_by_sandbox });
      return error?.details?.refused_by_sandbox;
    };
    expect(await refused('touch /usr/x')).toEqual(['write_outside']);
    expect(await refused(`cat ${outside}/secret.txt`)).toEqual(['hidden_file']);
    const own = await bash(executor, 'cat missing; false');
    expect(own.output).not.toContain('OS sandbox');
    const shell = await executor.execute('bash', { command: 'touch /usr/x', run_in_background: true });
    expect(shell.metadata.sandbox).toMatchObject({ kind: 'bubblewrap', wall: 'bubblewrap', network: false });
    for (;;) {
      const { output, metadata } = await executor.execute('bash_output', {
        bash_id: String(shell.metadata.bash_id),
      });
      if (metadata.is_running === true) {
        await new Promise((done) => setTimeout(done, 20));
        continue;
      }
      expect(output).toContain('[The OS sandbox refused');
      expect(metadata.sandbox).toMatchObject({ refused: ['write_outside'] });
      break;
    }
  });

  it('see no file that file tools may not read, and change none that those may not write', async () => {
    mkdirSync(join(root, 'deep'));
    for (const name of ['.env', 'deep/server.pem', '.envrc']) writeFileSync(join(root, name), 'before');
    const seen = await bash(executorOf(), 'cat .env deep/server.pem .envrc');
    expect(seen.output.match(/before/g)).toHaveLength(1);
    const { error } = await bash(executorOf(), 'echo after > .envrc; mkdir -p .git/hooks');
    expect(error).toMatchObject({ code: 'sandbox_violation', details: { executed: 'no' } });
    expect(readFileSync(join(root, '.envrc'), 'utf8')).toBe('before');
    expect(existsSync(join(root, '.git'))).toBe(false);
  });

  it('hand nothing over to file tools that lies outside', async () => {
    const executor = executorOf();
    const plantings = [
      `ln -s ${outside}/secret.txt planted`,
      'ln -s ../secret.txt planted',
      `ln ${outside}/secret.txt planted`,
      'ln -s /proc/self/root planted',
      'mkfifo planted',
      `mkdir d; mv d planted; rmdir planted; ln -s ${outside} planted`,
    ];
    for (const planting of plantings) {
      await bash(executor, `rm -rf planted d; ${planting}`);
      for (const path of ['planted', 'planted/secret.txt', `planted${outside}/secret.txt`]) {
        const read = await executor.execute('read_file', { path });
        expect([planting, path, read.success]).toEqual([planting, path, false]);
        expect(JSON.stringify(read)).not.toContain('the secret');
        await executor.execute('write_file', { path, content: 'overwritten' });
      }
      expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('the secret');
    }
  });

  it('cannot swap a directory under the hands of file tools', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const executor = executorOf();
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'd', 'secret.txt'), 'harmless');
    const swap = `while :; do mv d e && ln -s ${outside} d; rm d; mv e d; done 2>/dev/null`;
    const shell = await executor.execute('bash', { command: swap, run_in_background: true });
    let read = 0;
    for (let round = 0; round < 300 || (round < 10_000 && read === 0); round++) {
      const result = await executor.execute('read_file', { path: 'd/secret.txt' });
      expect(JSON.stringify(result)).not.toContain('the secret');
      if (result.success) read++;
    }
    await executor.execute('kill_shell', { shell_id: String(shell.metadata.bash_id) });
    expect(read).toBeGreaterThan(0);
  });

  it('get none of the secrets of the environment, nor of the processes of the machine', {
    tags: ['soak'],
  }, async () => {
    process.env.WALL_TEST_TOKEN = 'a-secret-token-value';
    try {
      const { output } = await bash(executorOf(), 'env; cat /proc/[0-9]*/environ | tr "\\0" "\\n"');
      expect(output).not.toContain('a-secret-token-value');
      expect(output).toContain('TOOLEXEC_CALL');
    } finally {
      delete process.env.WALL_TEST_TOKEN;
    }
  });

  it('reach the network, and what they are shown, where that is configured', { tags: ['soak'] }, async () => {
    mkdirSync(join(outside, 'toolchain'));
    writeFileSync(join(outside, 'toolchain', 'x'), 'shown');
    const executor = executorOf({ sandbox: { network: true, readable: [join(outside, 'toolchain')] } });
    const { output, metadata } = await bash(executor, `cat ${outside}/toolchain/x; grep -c : /proc/net/dev`);
    expect(output).toMatch(/^shown\d+\n$/);
    expect(metadata.sandbox).toMatchObject({ kind: 'bubblewrap', wall: 'bubblewrap', network: true });
  });

  it('need no other consent if there is a command sandbox', { tags: ['soak'] }, async () => {
    const policy = { rules: [{ decision: 'allow', tool: 'bash', command: 'echo *' }] } as const;
    const executor = createExecutor({ root, policy });
    executors.push(executor);
    expect(await bash(executor, 'echo x')).toMatchObject({ success: true, output: 'x\n' });
    const required = executorOf({ sandbox: { os: 'required' } });
    expect(await bash(required, 'echo y')).toMatchObject({ success: true, output: 'y\n' });
  });

  it('are refused or asked about, with the reason, if there are more files than can be guarded', {
    tags: ['soak'],
  }, async () => {
    for (let index = 0; index <= 2000; index++) writeFileSync(join(root, `${index}.pem`), '');
    const policy = { rules: [{ decision: 'allow', tool: 'bash', command: 'echo *' }] } as const;
    const required = executorOf({ sandbox: { os: 'required', transactions: 'off' }, policy });
    expect(await bash(required, 'echo 1 > made')).toMatchObject({
      success: false,
      error: { code: 'sandbox_violation', message: expect.stringContaining('2000 files') },
    });
    const asked: (string | undefined)[] = [];
    const preferred = executorOf({
      policy,
      approver: (requests) => {
        asked.push(...requests.map(({ reason }) => reason));
        return { kind: 'approve_all' };
      },
    });
    const write = { command: 'echo made', run_in_background: true };
    expect(await preferred.execute('bash', write)).toMatchObject({
      success: true,
      metadata: { sandbox: { incomplete: true } },
    });
    expect(asked).toEqual([expect.stringContaining('files that deny patterns hide')]);
    const agreed = await bash(executorOf({ sandbox: { transactions: 'off' } }), 'echo yes');
    expect(agreed.output).toMatch(/^yes\n\n\[The roots contain more files than the OS sandbox can guard/);
    expect(existsSync(join(root, 'made'))).toBe(false);
  });

  it("neither change nor create toolexec's own files, even if their root is the home directory", async () => {
    const kept = { HOME: process.env.HOME, XDG_STATE_HOME: process.env.XDG_STATE_HOME };
    process.env.HOME = root;
    process.env.XDG_STATE_HOME = join(root, 'state here');
    try {
      const plant = `mkdir -p .config/toolexec 'state here/toolexec'; for d in .config 'state here'; do
        echo evil > "$d/toolexec/config.toml"; mv "$d/toolexec" x; mv "$d" y; mkdir -p "$d/toolexec"; echo evil > "$d/toolexec/config.toml"; done; echo made > .config/other; echo made > seen`;
      for (const transactions of ['off', 'auto'] as const) {
        await bash(executorOf({ sandbox: { transactions } }), plant);
        for (const directory of ['.config', 'state here'])
          expect(existsSync(join(root, directory, 'toolexec', 'config.toml'))).toBe(false);
        expect(readFileSync(join(root, 'seen'), 'utf8')).toBe('made\n');
      }
      const write = { path: 'state here/toolexec/trusted.json', content: '{}' };
      expect(await executorOf().execute('write_file', write)).toMatchObject({ success: false });
    } finally {
      for (const [name, value] of Object.entries(kept)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });

  it('take links in a root for what they are', async () => {
    symlinkSync(outside, join(root, 'up'));
    expect((await bash(executorOf(), 'cat up/secret.txt')).output).not.toContain('the secret');
  });
});

const CREATE_EXECUTOR = resolve(import.meta.dirname, '..', 'create-executor.ts');

/** Inside the command sandbox no second sandbox can be built: a program there sees a machine without a sandbox. */
async function whereNoneStands(program: string): Promise<unknown> {
  const repository = resolve(import.meta.dirname, '..', '..', '..');
  writeFileSync(
    join(root, 'program.mjs'),
    `import { createExecutor } from ${JSON.stringify(bundleProgram(CREATE_EXECUTOR))};
    const bash = async (options, command) => {
      const executor = createExecutor({ root: '.', ...options });
      const { success, output, error, metadata } = await executor.execute('bash', { command });
      await executor.close();
      return { success, output, code: error?.code, message: error?.message, hint: error?.hint, sandbox: metadata.sandbox };
    };
    console.log(JSON.stringify(await (async () => { ${program} })()));`,
  );
  const readable = [repository, realpathSync(join(repository, 'node_modules'))];
  const executor = executorOf({ sandbox: { os: 'required', readable } });
  const command = `'${process.execPath}' program.mjs`;
  const { output, metadata } = await bash(executor, command);
  expect(metadata).toMatchObject({ exit_code: 0 });
  return JSON.parse(output);
}

describe.skipIf(WHY_NO_SANDBOX)(
  `where no command sandbox can be built${WHY_NO_SANDBOX}`,
  { timeout: 180_000 },
  () => {
    it('a required one refuses every command, whoever agrees', async () => {
      const answer = await whereNoneStands(`
      const sandbox = { os: 'required' };
      const approver = () => ({ kind: 'approve_all' });
      return [await bash({ sandbox, approver: null }, 'touch ran'), await bash({ sandbox, approver }, 'touch ran')];
    `);
      const refused = {
        success: false,
        code: 'sandbox_violation',
        message: expect.stringContaining('they need an OS sandbox, and there is none'),
        hint: expect.stringMatching(/cannot isolate here|does not belong to root/),
      };
      expect(answer).toMatchObject([refused, refused]);
      expect(existsSync(join(root, 'ran'))).toBe(false);
    });

    it('holds for a program that is a tool as well: required it refuses, preferred it asks', {
      tags: ['soak'],
    }, async () => {
      const answer = await whereNoneStands(`
      const parts = { description: '', input: { type: 'object' }, aliases: [], category: 'external', timeoutClass: 'external' };
      const execute = async (args, { cwd, signal, processes }) => {
        const rest = { args: [], env: {}, input: '', maxOutputBytes: 10, keepErrorBytes: 10 };
        return { structured: (await processes.runProgram({ file: '/bin/true', cwd, signal, ...rest })).metadata };
      };
      const tool = { name: 'bash', ...parts, program: { trusted: false }, execute };
      const policy = { rules: [{ decision: 'allow', tool: 'bash' }] };
      const sandbox = { externalTools: 'all' };
      const options = { tools: [tool], policy };
      return [
        await bash({ ...options, sandbox: { ...sandbox, os: 'required' } }),
        await bash({ ...options, sandbox }),
        await bash({ ...options, sandbox, approver: null }),
        await bash(options),
      ];
    `);
      expect(answer).toMatchObject([
        { code: 'sandbox_violation', message: expect.stringContaining('there is none') },
        {
          code: 'approval_unavailable',
          hint: expect.stringContaining('the command would have no OS sandbox'),
        },
        { success: true, output: expect.stringContaining('"wall":"none"') },
        { success: true, output: '{}' },
      ]);
    });

    it('a preferred one asks, even if a rule allows the command; consent in advance is an answer', {
      tags: ['soak'],
    }, async () => {
      const answer = await whereNoneStands(`
      const policy = { rules: [{ decision: 'allow', tool: 'bash', command: 'echo *' }] };
      const asked = [];
      const approver = (requests) => { asked.push(...requests.map(({ reason }) => reason)); return { kind: 'approve_all' }; };
      return [
        await bash({ policy }, 'echo 1'),
        await bash({ policy, approver }, 'echo 2'),
        await bash({ policy, approver: null }, 'echo 3'),
        await bash({ policy, sandbox: { os: 'off' } }, 'echo 4'),
        asked,
      ];
    `);
      const reason = expect.stringMatching(/cannot isolate here|does not belong to root/);
      const sandbox = { kind: 'none', wall: 'none', network: true, reason };
      expect(answer).toMatchObject([
        {
          success: false,
          code: 'approval_unavailable',
          hint: expect.stringContaining('the command would have no OS sandbox'),
        },
        { success: true, output: '2\n', sandbox },
        { success: true, output: '3\n', sandbox },
        { success: true, output: '4\n', sandbox: { kind: 'none', wall: 'none', network: true } },
        [expect.stringContaining('the command would have no OS sandbox')],
      ]);
    });
  },
);

describe('the options of the command sandbox', () => {
  it('are checked', () => {
    for (const sandbox of [{ os: 'maybe' }, { network: 'yes' }, { readable: '/opt' }]) {
      expect(() => createExecutor({ root, sandbox: sandbox as never })).toThrow(/sandbox\.\w+ must be/);
    }
    expect(() => createExecutor({ root, commandLimits: { cpuSeconds: 0 } })).toThrow(
      /commandLimits\.cpuSeconds/,
    );
  });
});
