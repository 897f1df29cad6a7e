// Requirements that no test of one folder can show: each test here goes through the doors of the package, with real
// files and processes. docs/requirements.md names them.
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type ApprovalRequest,
  builtinTools,
  createExecutor,
  defineTool,
  type Executor,
  type ExecutorOptions,
  isToolError,
  openJournal,
} from '../src/index.js';

const OUTSIDE = '../outside.txt';

describe('errors that invoke() throws', () => {
  const wait = defineTool({
    name: 'wait',
    description: 'Waits for ever.',
    input: { type: 'object' },
    effects: () => [],
    timeoutMs: 20,
    execute: () => new Promise<string>(() => {}),
  });

  it.each([
    ['unknown_tool', 'no_such_tool', {}, 'no_such_tool'],
    ['user_denied', 'write_file', { path: 'a', content: 'b' }, 'User denied permission'],
    ['sandbox_violation', 'read_file', { path: OUTSIDE }, OUTSIDE],
    ['timeout', 'wait', {}, '20ms'],
  ] as const)(
    'have the code %s, also behind wrappings, and say why (A019)',
    async (code, name, args, words) => {
      const { executor } = withFolder({
        tools: [...builtinTools(), wait],
        approver: () => ({ kind: 'deny_all' }),
      });
      const thrown: unknown = await executor.invoke(name, args).catch((error: unknown) => error);
      const wrapped = new Error('outer', { cause: new Error('inner', { cause: thrown }) });
      expect(isToolError(wrapped, code)).toBe(true);
      expect(isToolError(wrapped, 'cancelled')).toBe(false);
      expect(String(thrown)).toContain(words);
    },
  );

  it('keep what the tool threw as their cause (A019)', async () => {
    const reason = new Error('disk on fire');
    const burn = defineTool({
      name: 'burn',
      description: 'Fails.',
      input: { type: 'object' },
      effects: () => [],
      execute: () => Promise.reject(reason),
    });
    const { executor } = withFolder({ tools: [burn] });
    await expect(executor.invoke('burn', {})).rejects.toMatchObject({
      code: 'execution_failed',
      cause: reason,
    });
  });
});

describe('a security violation', () => {
  it('has a code, and its reason in the message and in the details (A032)', async () => {
    const { executor, root } = withFolder({ approver: null });
    writeFileSync(join(root, '.env'), 'TOKEN=1');
    const [outside, denied, blocked] = await executor.run([
      { id: '1', name: 'read_file', args: { path: OUTSIDE } },
      { id: '2', name: 'read_file', args: { path: '.env' } },
      { id: '3', name: 'bash', args: { command: 'rm -rf /' } },
    ]);
    expect(outside?.error).toMatchObject({
      code: 'sandbox_violation',
      message: expect.stringContaining(OUTSIDE),
      details: { reason: 'PathOutsideSandbox', executed: 'no' },
    });
    expect(denied?.error).toMatchObject({
      code: 'sandbox_violation',
      message: expect.stringContaining('.env'),
      details: { reason: 'DeniedPatternMatched', executed: 'no' },
    });
    expect(blocked?.error).toMatchObject({
      code: 'security_violation',
      message: expect.stringMatching(/blocked.*dangerous/i),
      details: { executed: 'no' },
    });
  });
});

describe('bash in an executor', () => {
  it('reads its timeout in milliseconds: not in seconds, not in less (B007)', async () => {
    const { executor } = withFolder({ approver: null });
    const inTime = await executor.execute('bash', { command: 'sleep 0.3; echo done', timeout: 20_000 });
    expect(inTime).toMatchObject({ success: true, output: 'done\n' });
    const tooLong = await executor.execute('bash', { command: 'sleep 60', timeout: 100 });
    expect(tooLong.error).toMatchObject({ code: 'timeout', message: expect.stringContaining('100ms') });
  });

  it('starts in the background, is read, waited for, and read again (B047)', async () => {
    const { executor, root } = withFolder({ approver: null });
    const command = 'echo one; until [ -e go ]; do sleep 0.02; done; echo two';
    const { metadata } = await executor.execute('bash', { command, run_in_background: true });
    const read = () => executor.execute('bash_output', { bash_id: `${metadata.bash_id}` });
    const seen: string[] = [];
    await expect
      .poll(async () => {
        const { output, metadata: now } = await read();
        seen.push(output);
        return [seen.join('').includes('one'), now.is_running];
      })
      .toEqual([true, true]);
    expect(seen.join('')).not.toContain('two');
    const before = seen.length;
    writeFileSync(join(root, 'go'), '');
    await expect
      .poll(async () => {
        const { output, metadata: now } = await read();
        seen.push(output);
        return [now.status, now.exit_code];
      })
      .toEqual(['completed', 0]);
    const after = seen.slice(before).join('');
    expect(after).toContain('two');
    expect(after).not.toContain('one');
  });

  it('does what its four examples say: run, ask, time out, another directory (C053)', async () => {
    const asked: ApprovalRequest[] = [];
    const { executor, root } = withFolder({
      approver: (requests) => {
        asked.push(...requests);
        return { kind: 'approve_all' };
      },
    });
    const [hello, slow, there] = await executor.run([
      { id: '1', name: 'bash', args: { command: "echo 'Hello'" } },
      { id: '2', name: 'bash', args: { command: 'sleep 60', timeout: 50 } },
      { id: '3', name: 'bash', args: { command: 'pwd', working_dir: '.' } },
    ]);
    expect(asked.map(({ callId }) => callId)).toEqual(['1', '2', '3']);
    expect(hello).toMatchObject({ success: true, output: 'Hello\n', metadata: { exit_code: 0 } });
    expect(slow?.error?.code).toBe('timeout');
    expect(there).toMatchObject({ success: true, output: `${root}\n`, metadata: { working_dir: root } });
  });
});

describe('every built-in tool', () => {
  const names = builtinTools().map(({ name }) => name);
  const WRONG: readonly unknown[] = [
    {},
    null,
    undefined,
    [],
    'text',
    7,
    { path: 7, command: 7, pattern: 7, patch: 7, bash_id: 7, shell_id: 7 },
  ];

  it.each(names)('%s answers arguments of a wrong type with a result that says so (C043)', async (name) => {
    const { executor } = withFolder({ approver: null, policy: { denylist: [] } });
    for (const [index, args] of WRONG.entries()) {
      const wrong: unknown = { id: `c${index}`, name, args };
      const [result] = await executor.run([wrong as never]);
      expect([args, result?.success, result?.error?.code]).toEqual([args, false, 'bad_args']);
    }
  });

  it.each(names)('%s is not run once its batch is cancelled (C043)', async (name) => {
    const { executor } = withFolder({ approver: null, policy: { denylist: [] } });
    const [result] = await executor.run([{ id: '1', name, args: {} }], { signal: AbortSignal.abort() });
    expect(result?.error).toMatchObject({ details: { executed: 'no' } });
  });

  it('of those that take a path refuses one that leaves the root (D050)', async () => {
    const { executor, root } = withFolder({ approver: null });
    writeFileSync(join(root, 'a.txt'), 'a');
    const patch = '*** Begin Patch\n*** Add File: ../outside.txt\n+x\n*** End Patch';
    const calls = [
      ['read_file', { path: OUTSIDE }],
      ['write_file', { path: OUTSIDE, content: 'x' }],
      ['edit_file', { path: OUTSIDE, old_string: 'a', new_string: 'b' }],
      ['apply_patch', { patch }],
      ['list_directory', { path: '..' }],
      ['glob', { pattern: '*', path: '..' }],
      ['grep', { pattern: 'a', path: '..' }],
      ['bash', { command: 'pwd', working_dir: '..' }],
    ] as const;
    const takesPath = ({ inputSchema }: { readonly inputSchema: object }): boolean =>
      /"(?:path|patch|working_dir)":/.test(JSON.stringify(inputSchema));
    const withPath = executor
      .definitions()
      .filter(takesPath)
      .map(({ name }) => name);
    expect(calls.map(([name]) => name).sort()).toEqual(withPath.sort());
    for (const [name, args] of calls) {
      const { error } = await executor.execute(name, args);
      expect([name, error?.code]).toEqual([name, 'sandbox_violation']);
    }
    expect(existsSync(join(root, OUTSIDE))).toBe(false);
  });

  it('that runs commands is marked: asked for at high risk, and the result says what contained it (D050)', async () => {
    const asked: ApprovalRequest[] = [];
    const { executor } = withFolder({
      policy: { denylist: [] },
      sandbox: { os: 'off' },
      approver: (requests) => {
        asked.push(...requests);
        return { kind: 'approve_all' };
      },
    });
    for (const name of ['bash', 'run_command']) {
      const { metadata } = await executor.execute(name, { command: 'true' });
      expect(metadata.sandbox).toMatchObject({ wall: 'none' });
    }
    expect(asked.map(({ risk }) => risk)).toEqual(['high', 'high']);
  });

  it('caches read_file, grep and glob, and no other tool (C017)', () => {
    const cacheable = builtinTools().filter((tool) => tool.cacheable === true);
    expect(cacheable.map(({ name }) => name).sort()).toEqual(['glob', 'grep', 'read_file']);
  });
});

describe('calls of one tool that run side by side', () => {
  it('are answered each with its own result (C043)', async () => {
    const { executor, root } = withFolder({});
    const numbers = Array.from({ length: 40 }, (_, index) => `${index}`);
    for (const number of numbers) writeFileSync(join(root, number), `content ${number}`);
    const outputs = await Promise.all(numbers.map((path) => executor.invoke('read_file', { path })));
    expect(outputs).toEqual(numbers.map((number) => `content ${number}`));
  });
});

describe('what a batch shares', () => {
  it('is its signal, its events, its room for output, its environment and its record (D032)', async () => {
    const { executor, root } = withFolder({ approver: null, journal: 'journal.db' });
    process.env.SESSION_TOKEN = 'not-for-commands-1';
    onTestFinished(() => void delete process.env.SESSION_TOKEN);
    writeFileSync(join(root, 'a'), 'a'.repeat(3_000));
    const run = executor.start(
      [
        { id: '1', name: 'read_file', args: { path: 'a' } },
        { id: '2', name: 'bash', args: { command: 'printf %s "$SESSION_TOKEN"; yes | head -c 9000' } },
        { id: '3', name: 'bash', args: { command: 'sleep 60' } },
        { id: '4', name: 'write_file', args: { path: 'b', content: 'b' } },
      ],
      { availableCapacityBytes: 8_000, conversation: 'shared' },
    );
    const order: string[] = [];
    for await (const { callId, type } of run.events) {
      if (type === 'started' || type === 'completed') order.push(`${callId} ${type}`);
      if (callId === '3' && type === 'started') run.cancel();
    }
    const [read, command, ...cancelled] = await run.results;
    expect(order.slice(0, 5)).toEqual(['1 started', '1 completed', '2 started', '2 completed', '3 started']);
    expect(read?.output).toHaveLength(3_000);
    expect(command?.output).not.toContain('not-for-commands-1');
    expect(Buffer.byteLength(command?.output ?? '')).toBeLessThanOrEqual(5_000);
    expect(cancelled.map(({ error }) => error?.code)).toEqual(['cancelled', 'cancelled']);
    await executor.close();
    const journal = openJournal(join(root, 'journal.db'));
    onTestFinished(() => journal.close());
    const [batch, ...others] = await journal.batches();
    const calls = await journal.batch(batch?.id ?? '');
    expect([calls.map(({ callId, result }) => [callId, result?.success]), others]).toEqual([
      [
        ['1', true],
        ['2', true],
        ['3', false],
        ['4', false],
      ],
      [],
    ]);
  });
});

describe('before the person is asked', () => {
  it('existence, schema, limits and sandbox are checked: such calls are answered, and there is no question (D042)', async () => {
    let asked = 0;
    const { executor, root } = withFolder({
      limits: { maxToolArgsBytes: 500 },
      approver: () => {
        asked++;
        return { kind: 'approve_all' };
      },
    });
    const results = await executor.run([
      { id: '1', name: 'no_such_tool', args: {} },
      { id: '2', name: 'edit_file', args: { path: 7 } },
      { id: '3', name: 'bash', args: { command: `touch a; echo ${'x'.repeat(600)}` } },
      { id: '4', name: 'write_file', args: { path: OUTSIDE, content: 'x' } },
    ]);
    expect(results.map(({ error }) => error?.code)).toEqual([
      'unknown_tool',
      'bad_args',
      'limit_exceeded',
      'sandbox_violation',
    ]);
    expect(asked).toBe(0);
    expect([existsSync(join(root, OUTSIDE)), existsSync(join(root, 'a'))]).toEqual([false, false]);
  });

  it('a call beside such calls is still asked for, and runs (D042)', async () => {
    const { executor, root } = withFolder({
      approver: (requests) => ({ kind: 'approve_selected', ids: requests.map(({ callId }) => callId) }),
    });
    const results = await executor.run([
      { id: '1', name: 'no_such_tool', args: {} },
      { id: '2', name: 'write_file', args: { path: 'a', content: 'x' } },
    ]);
    expect(results.map(({ success }) => success)).toEqual([false, true]);
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('x');
  });

  it('a second call of the same id is refused and does not run, whatever its arguments (D043)', async () => {
    const { executor, root } = withFolder({ approver: null });
    const results = await executor.run([
      { id: 'same', name: 'write_file', args: { path: 'a', content: 'x' } },
      { id: 'same', name: 'write_file', args: { path: 'b', content: 'x' } },
    ]);
    expect(results.map(({ error }) => error?.code)).toEqual([undefined, 'duplicate_tool_call_id']);
    expect([existsSync(join(root, 'a')), existsSync(join(root, 'b'))]).toEqual([true, false]);
  });

  it('the summary is made: of valid arguments alone, and one that fails answers its call (D044)', async () => {
    const summarized: unknown[] = [];
    const tool = defineTool({
      name: 'note',
      description: 'Notes.',
      input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      effects: () => [{ kind: 'write', path: 'notes' }],
      summarize: ({ text }) => {
        summarized.push(text);
        if (text === 'broken') throw new Error('no words');
        return text.repeat(300);
      },
      execute: () => 'noted',
    });
    const asked: ApprovalRequest[] = [];
    const { executor } = withFolder({
      tools: [tool],
      approver: (requests) => {
        asked.push(...requests);
        return { kind: 'approve_all' };
      },
    });
    const results = await executor.run([
      { id: '1', name: 'note', args: { text: 7 } },
      { id: '2', name: 'note', args: { text: 'broken' } },
      { id: '3', name: 'note', args: { text: 'fine' } },
    ]);
    expect(results.map(({ error }) => error?.code)).toEqual(['bad_args', 'execution_failed', undefined]);
    expect(new Set(summarized)).toEqual(new Set(['broken', 'fine']));
    expect(asked.map(({ callId, risk }) => [callId, risk])).toEqual([['3', 'medium']]);
    expect(asked[0]?.summary).toMatch(/^(?:fine)+f?i?n?…$/);
    expect(asked[0]?.summary.length).toBeLessThanOrEqual(200);
  });
});

describe('calls beyond the limit of a batch', () => {
  it('are planned as answered, run nothing, and the others run (D126)', async () => {
    const { executor, root } = withFolder({ approver: null });
    const calls = Array.from({ length: 10 }, (_, index) => ({
      id: `c${index}`,
      name: 'write_file',
      args: { path: `f${index}`, content: 'x' },
    }));
    const planned = (await executor.plan(calls)).calls.map(({ disposition }) => disposition);
    expect(planned).toEqual(calls.map((_, index) => (index < 8 ? 'requires_confirmation' : 'pre_resolved')));
    const results = await executor.run(calls);
    expect(calls.map(({ args }) => existsSync(join(root, args.path)))).toEqual(
      calls.map((_, index) => index < 8),
    );
    for (const { error } of results.slice(8))
      expect(error).toMatchObject({ code: 'limit_exceeded', details: { max: 8, executed: 'no' } });
  });
});

describe('the record of a batch', () => {
  it('records what the model said beside its calls (D081)', async () => {
    const { executor, root } = withFolder({ journal: 'journal.db' });
    const message = { text: 'Let me look.', model: 'model-1' };
    writeFileSync(join(root, 'a'), 'x');
    const calls = ['b', 'a'].map((id) => ({ id, name: 'read_file', args: { path: 'a' } }));
    await executor.run(calls, { conversation: 'thread', message });
    await executor.close();
    const journal = openJournal(join(root, 'journal.db'));
    onTestFinished(() => journal.close());
    const [batch] = await journal.batches();
    expect(batch).toMatchObject({ conversation: 'thread', size: 2, message });
    const recorded = await journal.batch(batch?.id ?? '');
    expect(recorded.map(({ callId, result }) => [callId, result?.output])).toEqual([
      ['b', 'x'],
      ['a', 'x'],
    ]);
  });
});

/** An executor in a folder of its own; a journal is a file there. */
function withFolder(options: ExecutorOptions & { readonly journal?: string }): {
  readonly executor: Executor;
  readonly root: string;
} {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-requirements-')));
  const { journal, ...others } = options;
  const executor = createExecutor({
    root,
    ...others,
    ...(journal === undefined ? {} : { journal: join(root, journal) }),
  });
  onTestFinished(async () => {
    await executor.close();
    rmSync(root, { recursive: true, force: true });
  });
  return { executor, root };
}
