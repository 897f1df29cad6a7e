import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { living, sleepToken } from '../../commands/fixtures/nasty-trees.js';
import type { Executor } from '../../contract/executor.js';
import type { JsonObject } from '../../contract/json.js';
import { builtinTools } from '../builtin-tools.js';
import { createExecutor } from '../create-executor.js';
import { defineTool } from '../declare/define-tool.js';

let root: string;
let executor: Executor;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'executor-shells-')));
  executor = createExecutor({ root, approver: null });
});

afterEach(async () => {
  await executor.close();
  rmSync(root, { recursive: true, force: true });
});

const start = async (command: string, more: JsonObject = {}): Promise<string> => {
  const { success, metadata } = await executor.execute('Bash', { command, run_in_background: true, ...more });
  expect(success).toBe(true);
  return String(metadata.bash_id);
};
const read = (id: string, more: JsonObject = {}) => executor.execute('BashOutput', { bash_id: id, ...more });
const kill = (id: string) => executor.execute('KillShell', { shell_id: id });

/** Reads until it has ended: its whole output, and the last result. */
async function readToEnd(id: string, more: JsonObject = {}) {
  for (let output = ''; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const result = await read(id, more);
    output += result.output;
    if (result.metadata.is_running !== true) return { ...result, output };
  }
}

/** Polls, because a busy machine needs more time. */
async function until<T>(ask: () => T | Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('bash with run_in_background', () => {
  it('returns at once with an id (B019, B020)', async () => {
    const before = performance.now();
    const result = await executor.execute('bash', {
      command: 'sleep 60 && echo done',
      description: 'Wait',
      run_in_background: true,
    });
    expect(performance.now() - before).toBeLessThan(10_000);
    const { bash_id: id } = result.metadata;
    expect(id).toMatch(/^shell_[0-9a-f]{16}$/);
    expect(result).toMatchObject({ success: true, metadata: { status: 'running', description: 'Wait' } });
    expect(result.output).toContain('Started background shell');
    expect(result.output).toContain(String(id));
  });

  it('says that a shell which was ended while it started cannot be read', {
    tags: ['soak'],
  }, async () => {
    for (let round = 0; round < 20; round++) {
      const abort = new AbortController();
      const running = executor.execute(
        'bash',
        { command: 'sleep 300', run_in_background: true },
        { signal: abort.signal },
      );
      setTimeout(() => abort.abort(), round / 4);
      const { error, output } = await running;
      if (error === undefined) continue;
      expect(error.code).toBe('cancelled');
      expect(output).not.toContain('Started');
    }
  });

  it('runs in the directory it is given, which lies inside the roots', async () => {
    const id = await start('pwd; cd /; pwd', { working_dir: '.' });
    // In one read or in two, with the status between them. The status precedes the text on the same line.
    const { output } = await readToEnd(id);
    expect(output.replaceAll(/\[Status: [^\]]*\]/g, '\n').split('\n')).toEqual(
      expect.arrayContaining([root, '/']),
    );
    const refused = await executor.execute('bash', {
      command: 'pwd',
      working_dir: '..',
      run_in_background: true,
    });
    expect(refused.error?.code).toBe('sandbox_violation');
  });

  it('ends after its timeout, and leaves other shells alone (B050)', async () => {
    const other = await start('while :; do echo tick; sleep 0.1; done');
    const late = await start('echo begun; sleep 300', { timeout: 4000 });
    const { metadata, output } = await readToEnd(late);
    expect(metadata).toMatchObject({ status: 'timeout', exit_code: null, signal: 'SIGTERM' });
    expect(output).toContain('begun');
    expect((await read(other)).metadata).toMatchObject({ status: 'running', is_running: true });
  });

  it('continues when the call, the batch and the conversation are over', async () => {
    const [result] = await executor.run(
      [
        {
          id: '1',
          name: 'bash',
          args: { command: 'sleep 0.2; echo later', run_in_background: true },
        },
      ],
      { conversation: 'one' },
    );
    expect((await readToEnd(String(result?.metadata.bash_id))).output).toContain('later');
  });

  it('is only said in a dry run', async () => {
    const { output, metadata } = await executor.execute(
      'bash',
      { command: 'touch f', run_in_background: true },
      { dryRun: true },
    );
    expect(output).toContain('[Dry Run]');
    expect(metadata).not.toHaveProperty('bash_id');
  });

  it('fails where it cannot be started', async () => {
    const { error } = await executor.execute('bash', {
      command: `: ${'x'.repeat(200_000)}`,
      run_in_background: true,
    });
    expect(error).toMatchObject({ code: 'spawn_failed', details: { errno: 'E2BIG', executed: 'no' } });
  });

  it.each(['bash', 'run_command'])(
    'is answered as not executed where it cannot be started: %s',
    async (name) => {
      await using other = createExecutor({ root, approver: null, policy: null });
      const { error } = await other.execute(name, { command: `: ${'x'.repeat(200_000)}` });
      expect(error).toMatchObject({ code: 'spawn_failed', details: { executed: 'no' } });
    },
  );

  it('was executed where a tool starts one after another, and the last cannot be started', {
    tags: ['soak'],
  }, async () => {
    const twice = defineTool({
      name: 'twice',
      description: 'd',
      input: { type: 'object' },
      async execute(_, ctx) {
        await ctx.processes.run({ shell: 'sh', command: 'true' });
        await ctx.processes.run({ shell: 'sh', command: `: ${'x'.repeat(200_000)}` });
        return 'never';
      },
    });
    await using other = createExecutor({ root, approver: null, policy: null, tools: [twice] });
    const { error } = await other.execute('twice', {});
    expect(error).toMatchObject({ code: 'spawn_failed', details: { executed: 'yes' } });
  });

  it('is refused when there are 32 already', { tags: ['soak'], timeout: 180_000 }, async () => {
    const ids = await Promise.all(Array.from({ length: 32 }, () => start('exec sleep 300')));
    expect(new Set(ids).size).toBe(32);
    const { error } = await executor.execute('bash', { command: 'true', run_in_background: true });
    expect(error).toMatchObject({ code: 'limit_exceeded', message: expect.stringContaining('kill_shell') });
    await kill(ids[0] ?? '');
    await start('true');
  });
});

describe('bash_output', () => {
  it('gives what a running shell prints, and only what is new (B021, B023)', async () => {
    const id = await start('i=0; while :; do i=$((i+1)); echo tick-$i-; sleep 0.05; done');
    const first = await until(
      () => read(id),
      ({ output }) => output.includes('tick-'),
    );
    expect(first.metadata).toMatchObject({ status: 'running', is_running: true, exit_code: null });
    const second = await until(
      () => read(id),
      ({ output }) => output.includes('tick-'),
    );
    const seen = (output: string) => [...output.matchAll(/tick-(\d+)-/g)].map(([, n]) => Number(n));
    const all = [...seen(first.output), ...seen(second.output)];
    expect(all).toEqual(all.map((_, index) => index + 1));
  });

  it('gives all of a shell that has ended, with its exit code and duration (B022, B027)', async () => {
    const { output, metadata } = await readToEnd(await start('echo hello; echo oops >&2'));
    expect(metadata).toMatchObject({ status: 'completed', is_running: false, done: true, exit_code: 0 });
    expect(output).toContain('hello\n');
    expect(output).toContain('[stderr]\noops\n');
    expect(output).toMatch(/Duration: \d+ms/);
    const failed = await readToEnd(await start('exit 3'));
    expect(failed.metadata).toMatchObject({ status: 'failed', exit_code: 3 });
    expect(failed.success).toBe(true);
  });

  it('fails for an unknown shell (B024)', async () => {
    const { success, error } = await read('shell_nonexistent');
    expect(success).toBe(false);
    expect(error?.message).toContain('not found');
    expect((await executor.execute('bash_output', {})).error?.message).toContain('bash_id');
    expect((await read('')).error).toMatchObject({ code: 'bad_args' });
  });

  it('shows the lines that a filter matches (B025)', async () => {
    const id = await start("echo 'error: a'; echo 'info: b'; printf 'error: c'");
    const { output } = await readToEnd(id, { filter: '^error' });
    expect(output.match(/error:/g)).toHaveLength(2);
    expect(output).not.toContain('info');
  });

  it('refuses an invalid filter, and then nothing counts as read (B026)', async () => {
    const id = await start('echo keepme');
    for (const filter of ['[invalid(regex', '(?=a)', 'x'.repeat(2000), '(a{900}){900}']) {
      const { error } = await read(id, { filter });
      expect(error?.code).toBe('bad_args');
      expect(error?.message).toContain('Invalid filter regex');
    }
    expect((await readToEnd(id)).output).toContain('keepme');
  });

  it('matches a hostile filter in linear time', { tags: ['soak'] }, async () => {
    const id = await start("head -c 300000 /dev/zero | tr '\\0' a; echo; sleep 0.2; echo end");
    const { output } = await readToEnd(id, { filter: '(a+)+$|end' });
    expect(output).toContain('end');
  });

  it('never lets a command wait at a full pipe, and keeps what is newest', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const id = await start('head -c 30000000 /dev/zero | tr "\\0" x; echo; echo END; touch done');
    await until(
      () => existsSync(join(root, 'done')),
      (done) => done,
    );
    const { output, metadata, truncated } = await read(id);
    expect(metadata).toMatchObject({ bash_id: id });
    expect(metadata.dropped_bytes).toBeGreaterThan(19_000_000);
    expect(truncated).toBe(true);
    expect(output).toContain('bytes of older output were not read in time');
  });

  it('tells of binary output, and does not show it', async () => {
    const { output } = await readToEnd(await start('head -c 5000 /dev/urandom'));
    expect(output).toContain('[binary output:');
  });
});

describe('kill_shell', () => {
  it('ends a shell with everything it has started (B028, B031, B048)', async () => {
    const token = sleepToken();
    const id = await start(`setsid sleep ${token} & echo ready; sleep ${token}`);
    await until(
      () => living(token).length,
      (count) => count >= 2,
    );
    const killed = await kill(id);
    expect(killed).toMatchObject({
      success: true,
      metadata: { shell_id: id, status: 'killed', is_running: false, already_stopped: false },
    });
    expect(killed.output).toContain('terminated');
    expect(killed.metadata.command).toContain('setsid sleep');
    expect(killed.metadata.duration_ms).toBeGreaterThan(0);
    expect(living(token)).toEqual([]);
    expect((await read(id)).metadata).toMatchObject({ status: 'killed', is_running: false });
  });

  it('lets it tidy up: TERM comes first', async () => {
    const id = await start("trap 'echo bye; exit' TERM; echo ready; while :; do sleep 0.01; done");
    await until(
      () => read(id),
      ({ output }) => output.includes('ready'),
    );
    expect((await kill(id)).metadata).toMatchObject({ status: 'killed', exit_code: 0 });
    expect((await read(id)).output).toContain('bye');
  });

  it('leaves an ended shell unchanged (B029)', async () => {
    const id = await start('exit 4');
    await readToEnd(id);
    const again = await kill(id);
    expect(again).toMatchObject({ success: true, metadata: { already_stopped: true, status: 'failed' } });
    expect(again.output).toContain('already stopped');
    expect((await read(id)).metadata).toMatchObject({ status: 'failed', exit_code: 4 });
  });

  it('fails for an unknown shell (B030)', async () => {
    expect((await kill('shell_nonexistent')).error?.message).toContain('not found');
    for (const args of [{}, { shell_id: '' }, { shell_id: 123 }]) {
      expect((await executor.execute('kill_shell', args)).error?.message).toContain('shell_id');
    }
  });

  it('always needs approval, bash_output never does', async () => {
    await using asking = createExecutor({ root });
    const plan = await asking.plan([
      { id: '1', name: 'KillShell', args: { shell_id: 'shell_1' } },
      { id: '2', name: 'BashOutput', args: { bash_id: 'shell_1' } },
    ]);
    expect(plan.calls.map(({ disposition }) => disposition)).toEqual([
      'requires_confirmation',
      'execute_now',
    ]);
  });
});

describe('the shells of an executor', () => {
  it('are five at once, each with its own output (B049)', async () => {
    const ids = await Promise.all([1, 2, 3, 4, 5].map((n) => start(`echo only-${n}`)));
    expect(new Set(ids).size).toBe(5);
    for (const [index, id] of ids.entries()) {
      const { output } = await readToEnd(id);
      expect(output.match(/only-\d/g)).toEqual([`only-${index + 1}`]);
    }
  });

  it('end with it', async () => {
    const token = sleepToken();
    await start(`setsid sleep ${token} & echo ready; sleep ${token}`);
    await until(
      () => living(token).length,
      (count) => count >= 2,
    );
    await executor.close();
    expect(living(token)).toEqual([]);
  });

  it('are not those of another executor', async () => {
    await using other = createExecutor({ root, approver: null });
    const { error } = await other.execute('bash_output', { bash_id: await start('sleep 300') });
    expect(error?.message).toContain('not found');
  });

  it('come with tools of the category execution and required arguments (B045, B046)', () => {
    const tools = builtinTools().filter(({ name }) => ['bash', 'bash_output', 'kill_shell'].includes(name));
    expect(tools.map(({ aliases }) => aliases)).toEqual([['Bash'], ['BashOutput'], ['KillShell']]);
    expect(tools.map(({ category }) => category)).toEqual(['execution', 'execution', 'execution']);
    const required = executor
      .definitions()
      .filter(({ name }) => tools.some((tool) => tool.name === name))
      .map(({ inputSchema }) => inputSchema.required);
    expect(required).toEqual([['command'], ['bash_id'], ['shell_id']]);
  });
});

/** Every process that this one has started and that still exists. */
function children(): string[] {
  return readdirSync('/proc/self/task')
    .flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'latin1').split(' '))
    .filter((pid) => pid !== '');
}

describe.skipIf(process.platform !== 'linux')(
  'an executor that is closed (skipped where there is no /proc)',
  () => {
    it('leaves no process behind, neither one of its commands nor its own', { tags: ['soak'] }, async () => {
      // Another test file in this process may have some too.
      const others = children();
      const own = (): string[] => children().filter((pid) => !others.includes(pid));
      for (let round = 0; round < 3; round++) await executor.execute('bash', { command: 'sleep 0.1' });
      await start('sleep 60');
      expect(own().length).toBeGreaterThan(1);
      await executor.close();
      expect(own()).toEqual([]);
    });
  },
);
