import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eachOf } from '../testing/fixtures/each-of.js';
import { executorFor, openTools } from './fixtures/open-tools.js';
import { ECHO_DOCUMENT, scriptOf, ToolsFolder } from './fixtures/tools-folder.js';

const ANY = { input_schema: { type: 'object' }, output_schema: {} };

/** Runs one call of a tool with this body. */
async function call(body: string, document: object = ANY, args: object = {}, timeoutMs = 20_000) {
  using folder = new ToolsFolder();
  folder.add('tool', scriptOf(body.replaceAll('$FOLDER', folder.root), document));
  await using service = await openTools(folder.path);
  await using executor = executorFor(service, {
    timeouts: { externalToolsMs: timeoutMs },
    limits: { maxToolArgsBytes: 3_000_000 },
  });
  const result = await executor.execute('tool', { ...args });
  return { result, metrics: service.list()[0]?.metrics, folder };
}

describe('a call of an external tool', () => {
  it('gets its arguments on standard input, and returns one JSON value (E019)', async () => {
    const { result } = await call('cat', ANY, { a: [1, 'ü'] });
    expect(result).toMatchObject({ success: true, structured: { a: [1, 'ü'] }, output: '{"a":[1,"ü"]}' });
  });

  it('gets its arguments as a line, so `read` works under `set -e`', async () => {
    const { result } = await call(`set -e; read -r line; printf '%s' "$line"`, ANY, { a: 1 });
    expect(result.structured).toEqual({ a: 1 });
  });

  it('may return a value in the shape of our own output: it is returned unchanged', async () => {
    const { result } = await call(`echo '{"text":"x","error":{"message":"no error"}}'`);
    expect(result).toMatchObject({
      success: true,
      structured: { text: 'x', error: { message: 'no error' } },
    });
  });

  it('sees both mode variables, and none of our secrets (E020, D120)', async () => {
    process.env.TEST_API_TOKEN = 'tok-1234567890';
    try {
      const { result } = await call(
        `printf '["%s","%s","%s"]' "$TOOLEXEC_TOOL_MODE" "$GIBSON_TOOL_MODE" "$TEST_API_TOKEN"`,
      );
      expect(result.structured).toEqual(['subprocess', 'subprocess', '']);
    } finally {
      delete process.env.TEST_API_TOKEN;
    }
  });

  it('returns a value without the secrets that were kept from it; only in its text are likely secrets redacted too', async () => {
    process.env.TEST_API_TOKEN = 'tok-1234567890';
    try {
      const looksLikeOne = `ghp_${'aB3dE5gH7j'.repeat(4)}`;
      const { result } = await call(`echo '{"a":"x tok-1234567890","b":"${looksLikeOne}"}'`);
      expect(result).toMatchObject({
        structured: { a: 'x [REDACTED]', b: looksLikeOne },
        output: '{"a":"x [REDACTED]","b":"[REDACTED]"}',
      });
    } finally {
      delete process.env.TEST_API_TOKEN;
    }
  });

  it('keeps every digit of a number that a double cannot hold', { tags: ['soak'] }, async () => {
    const { result } = await call(`echo '{"id":1763866800123456789}'`);
    expect(result).toMatchObject({ success: true, output: '{"id":1763866800123456789}' });
  });

  it('is checked before it starts (E041)', async () => {
    const { result, metrics } = await call('cat', ECHO_DOCUMENT, { message: 5 });
    expect(result.error).toMatchObject({ code: 'bad_args', details: { executed: 'no' } });
    expect(metrics?.totalExecutions).toBe(0);
  });

  it('is checked against its output schema (E042)', async () => {
    const { result, metrics } = await call(`echo '{"result":5}'`, ECHO_DOCUMENT, { message: 'x' });
    expect(result.error).toMatchObject({
      code: 'invalid_tool_output',
      message: expect.stringContaining('/result'),
    });
    expect(metrics?.failures).toEqual({ invalid_tool_output: 1 });
  });

  it('fails with the exit code and the end of standard error, and keeps what it printed (E023)', async () => {
    const { result } = await call('echo part; seq 100000 >&2; echo "the last word" >&2; exit 42');
    expect(result).toMatchObject({
      success: false,
      output: 'part\n',
      metadata: { exit_code: 42 },
      error: {
        code: 'execution_failed',
        message: expect.stringMatching(/^tool failed: exit code 42\n.*the last word$/s),
      },
    });
    expect(result.error?.message.length).toBeLessThan(3_000);
  });

  it('fails when a signal ends it', async () => {
    const { result } = await call('kill -9 $$');
    expect(result.error).toMatchObject({
      code: 'execution_failed',
      message: 'tool failed: it was ended by SIGKILL',
    });
  });

  eachOf(
    [
      ['nothing', ':', 'it printed nothing'],
      ['no JSON', 'echo hello', 'is not one JSON value'],
      ['two values', 'echo 1; echo 2', 'is not one JSON value'],
      ['no text', String.raw`printf '"\377\376"'`, 'is not UTF-8 text'],
      ['a number too large for a double', `echo '{"a":1e400}'`, '1e400'],
      ['the name of a prototype', `echo '{"a":[{"__proto__":{"b":1}}]}'`, '"__proto__" is not allowed'],
      [
        'it besides a number of many digits',
        `echo '{"n":1763866800123456789,"__proto__":{}}'`,
        'would lose digits',
      ],
      ['too deep nesting', 'head -c 100000 /dev/zero | tr "\\0" "["', 'is not one JSON value'],
    ],
    3,
  )('that prints %s is invalid output (E024)', async (_, body, message) => {
    const { result } = await call(body);
    expect(result.error).toMatchObject({
      code: 'invalid_tool_output',
      message: expect.stringContaining(message),
    });
  });

  it('is ended if it floods its output', { tags: ['soak'] }, async () => {
    using folder = new ToolsFolder();
    folder.add('tool', scriptOf('yes', ANY));
    await using service = await openTools(folder.path, { maxOutputBytes: 100_000 });
    await using executor = executorFor(service);
    const { error, output } = await executor.execute('tool', {});
    expect(error).toMatchObject({
      code: 'invalid_tool_output',
      message: 'tool failed: it wrote more than 100000 bytes, and was ended',
    });
    expect(output).toBe('');
  });

  it('is ended at its timeout, with all its child processes (E022)', async () => {
    using folder = new ToolsFolder();
    const place = join(folder.root, 'pid');
    folder.add('tool', scriptOf(`(trap '' TERM; echo $$ > ${place}; exec sleep 60) & sleep 60`, ANY));
    await using service = await openTools(folder.path);
    await using executor = executorFor(service, { timeouts: { externalToolsMs: 500 } });
    const { error } = await executor.execute('tool', {});
    expect(error).toMatchObject({ code: 'timeout', details: { executed: 'maybe' } });
    expect(() => process.kill(Number(readFileSync(place, 'utf8')), 0)).toThrow('ESRCH');
    expect(service.list()[0]?.metrics.failures).toEqual({ timeout: 1 });
  });

  it('is ended at the timeout of its run, or of the tool in the options (E038)', async () => {
    using folder = new ToolsFolder();
    folder.add('tool', scriptOf('sleep 60', { ...ANY, timeout_ms: 60_000 }));
    folder.add('other', scriptOf('sleep 60', ANY));
    await using service = await openTools(folder.path, { timeouts: { other: 300 } });
    await using executor = executorFor(service);
    const results = await Promise.all([
      executor.execute('tool', {}, { timeoutMs: 200 }),
      executor.execute('other', {}),
      executor.execute('other', {}, { timeoutMs: 100 }),
    ]);
    expect(results.map(({ error }) => [error?.code, error?.details?.timeoutMs])).toEqual([
      ['timeout', 200],
      ['timeout', 300],
      ['timeout', 100],
    ]);
    expect(() => executor.start([], { timeoutMs: 0 })).toThrow('timeoutMs');
    expect(() => executor.start([], { timeoutMs: Number.NaN })).toThrow('above 0, got NaN.');
    await expect(openTools(folder.path, { timeouts: { other: 0 } })).rejects.toThrow('timeouts');
  });

  it('keeps its output from before its timeout', async () => {
    const { result } = await call(`echo half; echo 'waiting for a lock' >&2; sleep 60`, ANY, {}, 400);
    expect(result).toMatchObject({
      output: 'half\n\nwaiting for a lock',
      metadata: { stderr: 'waiting for a lock' },
      error: { code: 'timeout', message: 'tool timed out after 400ms' },
    });
  });

  it('is ended when it is cancelled', async () => {
    using folder = new ToolsFolder();
    const place = join(folder.root, 'started');
    folder.add('tool', scriptOf(`touch ${place}; sleep 60`, ANY));
    await using service = await openTools(folder.path);
    await using executor = executorFor(service);
    const stop = new AbortController();
    const running = executor.execute('tool', {}, { signal: stop.signal });
    await expect.poll(() => existsSync(place)).toBe(true);
    stop.abort();
    expect((await running).error).toMatchObject({ code: 'cancelled' });
    expect(service.list()[0]?.metrics.failures).toEqual({ cancelled: 1 });
  });

  it('shows standard error while it runs', async () => {
    using folder = new ToolsFolder();
    folder.add('tool', scriptOf('echo step >&2; echo 1', ANY));
    await using service = await openTools(folder.path);
    await using executor = executorFor(service);
    const { events } = executor.start([{ id: '1', name: 'tool', args: {} }]);
    const seen: string[] = [];
    for await (const event of events) if (event.type === 'stderr') seen.push(event.chunk);
    expect(seen.join('')).toBe('step\n');
  });

  it('does not start a program that is not executable, is gone, or is writable by others (E025)', async () => {
    using folder = new ToolsFolder();
    const path = folder.add('tool', scriptOf('echo 1', ANY));
    await using service = await openTools(folder.path);
    await using executor = executorFor(service);
    for (const [change, message] of [
      [() => chmodSync(path, 0o644), 'may not be executed'],
      [() => chmodSync(path, 0o757), 'may be written by every user'],
      [() => rmSync(path), 'does not exist'],
    ] as const) {
      change();
      expect((await executor.execute('tool', {})).error).toMatchObject({
        code: 'spawn_failed',
        message: expect.stringContaining(message),
        details: { executed: 'no' },
      });
    }
    expect(service.list()[0]?.metrics).toMatchObject({ totalExecutions: 3, failures: { spawn_failed: 3 } });
  });

  it('does not run if its program was replaced by one with another description', async () => {
    using folder = new ToolsFolder();
    folder.add('tool', scriptOf('echo 1', ANY));
    await using service = await openTools(folder.path);
    await using executor = executorFor(service);
    folder.add('tool', scriptOf('echo 2', ANY));
    expect((await executor.execute('tool', {})).structured).toBe(2);
    folder.add('tool', scriptOf('echo 3', { ...ANY, description: 'Something else' }));
    expect((await executor.execute('tool', {})).error).toMatchObject({
      code: 'schema_fetch_failed',
      details: { executed: 'no' },
    });
    await service.refresh();
    expect((await executor.execute('tool', {})).structured).toBe(3);
  });

  it('runs unchecked if the program has no description', async () => {
    using folder = new ToolsFolder();
    folder.add('tool', '#!/bin/sh\n[ "$1" = --schema ] && exit 1\ncat\n');
    await using service = await openTools(folder.path);
    await using executor = executorFor(service);
    expect((await executor.execute('tool', { a: 1 })).structured).toEqual({ a: 1 });
  });

  it('needs approval, unless a trusted program declares that it only reads', async () => {
    using folder = new ToolsFolder();
    folder.add('reads', scriptOf('echo 1', { ...ANY, read_only: true }));
    folder.add('writes', scriptOf('echo 1', { ...ANY, effects: [{ kind: 'write', path: 'out.txt' }] }));
    folder.add('silent', scriptOf('echo 1', ANY));
    for (const trusted of [true, [] as string[]] as const) {
      await using service = await openTools(folder.path, { trusted });
      await using executor = executorFor(service);
      const { calls } = await executor.plan(
        ['reads', 'writes', 'silent'].map((name) => ({ id: name, name, args: {} })),
      );
      expect(calls.map(({ disposition, effects }) => [disposition, effects[0]?.kind])).toEqual(
        trusted === true
          ? [
              ['execute_now', 'call'],
              ['requires_confirmation', 'write'],
              ['requires_confirmation', 'unknown'],
            ]
          : Array(3).fill(['requires_confirmation', 'unknown']),
      );
    }
  });
});
