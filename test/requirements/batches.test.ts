// Requirements that no test of a single folder can show: each test uses the public entry points of the package, with
// real files and processes. docs/requirements.md names them.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ApprovalRequest, builtinTools, defineTool, isToolError, openJournal } from '../../src/index.js';
import { OUTSIDE, withFolder } from './with-folder.js';

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
    'have the code %s, even inside wrappers, and say why (A019)',
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

describe('each call', () => {
  it('gets its own context (D030)', async () => {
    const contexts: unknown[] = [];
    const tool = defineTool({
      name: 'look',
      description: 'Looks.',
      input: { type: 'object' },
      effects: () => [{ kind: 'read', path: '.' }],
      execute: (_args, ctx) => {
        contexts.push(ctx, ctx.files, ctx.signal, ctx.limits);
        return ctx.callId;
      },
    });
    const { executor } = withFolder({ tools: [tool] });
    const calls = ['1', '2', '3'].map((id) => ({ id, name: 'look', args: {} }));
    const results = await executor.run(calls);
    expect(results.map(({ output }) => output)).toEqual(['1', '2', '3']);
    expect(new Set(contexts.filter((_, index) => index % 4 < 3)).size).toBe(9);
  });
});

describe('the package', () => {
  it('opens the network only to ask a model, to fetch what a call declares, to speak MCP and to run a fleet, and imports nothing that is named at run time (D004, A100)', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/\.test\.ts$|fixtures/.test(name))
      // Programs of the projects that `init` writes.
      .filter((name) => !name.startsWith('cli/init/template-'))
      .map((name) => [name, readFileSync(join('src', name), 'utf8')] as const);
    expect(sources.length).toBeGreaterThan(100);
    // `node:net` has the class of pipes.
    const network =
      /from 'node:(?:http|https|http2|tls|dgram|dns|dns\/promises)'|\bfetch\(|createConnection|\.connect\(/;
    const open = sources.filter(([, text]) => network.test(text)).map(([name]) => name);
    // The users of each: models, `ctx.http`, MCP and the server of a fleet. The files of MCP call the SDK's own
    // `connect` and `fetch`.
    const users: Readonly<Record<string, RegExp>> = {
      'platform/runtime/look-up-host.ts': /^http\//,
      'platform/runtime/post-http.ts': /^providers\/http\//,
      'platform/runtime/send-request.ts': /^http\//,
      // The object store that a caller gives to a journal in Postgres.
      'platform/runtime/send-whole.ts': /^journal\/postgres\/s3-objects\.ts/,
      'platform/runtime/serve-http.ts': /^(?:mcp\/|cli\/commands\/mcp\/|fleet\/create-fleet-server\.ts)/,
    };
    expect(open.sort()).toEqual([
      // The `fetch` of pg-boss, and the driver of Postgres for a caller that gives such a journal.
      'fleet/dispatch/pg-boss.ts',
      'journal/postgres/connections.ts',
      'journal/postgres/examine-postgres.ts',
      'journal/postgres/notices.ts',
      'mcp/connect-upstream.ts',
      'mcp/http-sessions.ts',
      'mcp/serve-http.ts',
      ...Object.keys(users),
    ]);
    for (const [file, mayUse] of Object.entries(users)) {
      const importing = sources.filter(([, text]) => text.includes(file.replace(/^.*(\/.*)\.ts$/, '$1.js')));
      expect(importing.length, file).toBeGreaterThan(0);
      expect(importing.map(([name]) => name).filter((name) => !mayUse.test(name))).toEqual([]);
    }
    const byName = sources.filter(([, text]) =>
      /\bimport\((?!\s*['"])/.test(text.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '')),
    );
    // Packages with native parts (and by way of these the crash kit), and the tool that a program gives to the crash kit.
    expect(byName.map(([name]) => name).sort()).toEqual([
      'platform/runtime/installed-package.ts',
      'testing/crash-trial.ts',
    ]);
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
