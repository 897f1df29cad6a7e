import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { living, sleepToken } from '../../commands/fixtures/nasty-trees.js';
import type { Executor } from '../../contract/executor.js';
import type { JsonObject } from '../../contract/json.js';
import type { Tool } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';
import { callsOf, NEVER, pause, probeTool } from '../fixtures/probe-tool.js';

const opened: Executor[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((executor) => executor.close()));
});

function executorOf(tools: readonly Tool[], options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({ policy: null, approver: null, tools, ...options });
  opened.push(executor);
  return executor;
}

const ok = probeTool('ok', () => 'fine');

describe('a tool that takes too long', () => {
  for (const [label, execute] of [
    ['never settles', () => NEVER],
    ['ignores its signal', () => pause(30_000)],
    [
      'rejects once it is told to stop',
      (_: JsonObject, ctx: { signal: AbortSignal }) => rejectOnAbort(ctx.signal),
    ],
  ] as const) {
    it(`is answered when it ${label}; the batch continues`, async () => {
      const slow = probeTool('slow', execute, { timeoutMs: 60 });
      const executor = executorOf([slow, ok]);
      const started = performance.now();
      const results = await executor.run(callsOf('slow', 'ok'));
      expect(performance.now() - started).toBeLessThan(20_000);
      expect(results[0]?.error).toEqual({
        code: 'timeout',
        message: 'slow timed out after 60ms',
        details: { timeoutMs: 60, executed: 'maybe' },
      });
      expect(results[1]?.success).toBe(true);
    });
  }

  it('keeps what it hands in when it stops in time', async () => {
    const slow = probeTool(
      'slow',
      async (_, ctx) => {
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
        return { text: 'so far', metadata: { lines: 2 } };
      },
      { timeoutMs: 40 },
    );
    const [result] = await executorOf([slow]).run(callsOf('slow'));
    expect(result).toMatchObject({ success: false, output: 'so far', metadata: { lines: 2 } });
    expect(result?.error?.code).toBe('timeout');
  });
});

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

describe('a batch that is cancelled', () => {
  const hang = probeTool('hang', () => NEVER);
  const calls = callsOf('no_such_tool', 'ok', 'hang', 'ok', 'nor_this_one');

  for (const how of ['signal', 'cancel()'] as const) {
    it(`answers what runs and what is left through ${how}, and pre-resolved calls keep their text`, async () => {
      const executor = executorOf([ok, hang]);
      const controller = new AbortController();
      const run = executor.start(calls, { signal: controller.signal });
      for await (const event of run.events) if (event.type === 'started' && event.toolName === 'hang') break;
      if (how === 'signal') controller.abort();
      else run.cancel();
      const results = await run.results;
      expect(results.map(({ callId }) => callId)).toEqual(['c0', 'c1', 'c2', 'c3', 'c4']);
      expect(results.map(({ error }) => error?.code)).toEqual([
        'unknown_tool',
        undefined,
        'cancelled',
        'cancelled',
        'unknown_tool',
      ]);
      expect(results[2]?.error?.message).toBe('Cancelled by user');
      expect(results[3]?.error?.message).toBe('Cancelled by user');
      expect(results.map(({ error }) => error?.details?.executed)).toEqual([
        'no',
        undefined,
        'maybe',
        'no',
        'no',
      ]);
    });
  }

  it('starts nothing when the signal was aborted before', async () => {
    let ran = 0;
    const count = probeTool('count', () => {
      ran++;
      return 'x';
    });
    const results = await executorOf([count]).run(callsOf('count', 'count', 'lost'), {
      signal: AbortSignal.abort(),
    });
    expect(ran).toBe(0);
    expect(results.map(({ error }) => error?.code)).toEqual(['cancelled', 'cancelled', 'unknown_tool']);
    expect(results[0]?.error?.message).toBe('Cancelled by user');
    expect(results[0]?.error?.details?.executed).toBe('no');
  });

  it('answers while the approver never does', async () => {
    const asks = probeTool('asks', () => 'x', { requiresApproval: true });
    const executor = executorOf([asks], { approver: () => NEVER });
    const run = executor.start(callsOf('asks', 'asks'));
    await pause(10);
    run.cancel('changed my mind');
    const results = await run.results;
    expect(results.map(({ error }) => error?.code)).toEqual(['cancelled', 'cancelled']);
    expect(results[0]?.error?.message).toBe('Cancelled by user');
  });

  it('answers while a schema never does', async () => {
    const slow = probeTool('slow', () => 'x', {});
    const jsonSchema = { input: () => ({}), output: () => ({}) };
    const input = { '~standard': { version: 1, vendor: 'test', validate: () => NEVER, jsonSchema } };
    const executor = executorOf([{ ...slow, input } as unknown as Tool]);
    const run = executor.start(callsOf('slow', 'lost'));
    await pause(10);
    run.cancel();
    const results = await run.results;
    expect(results.map(({ error }) => error?.code)).toEqual(['cancelled', expect.any(String)]);
    expect(results[0]?.error?.details?.executed).toBe('no');
  });

  it('answers when a schema never does, without being cancelled', async () => {
    const jsonSchema = { input: () => ({}), output: () => ({}) };
    const input = { '~standard': { version: 1, vendor: 'test', validate: () => NEVER, jsonSchema } };
    const stuck = { ...probeTool('stuck', () => 'x', {}), input } as unknown as Tool;
    const results = await executorOf([stuck], { timeouts: { defaultMs: 40 } }).run(callsOf('stuck'));
    expect(results[0]?.error).toMatchObject({
      code: 'execution_failed',
      message: 'Nothing was run: the arguments could not be checked within 40ms',
      details: { executed: 'no' },
    });
  });

  it('leaves no listener on a signal that lives on', async () => {
    const { signal } = new AbortController();
    const executor = executorOf([ok]);
    await Promise.all(
      Array.from({ length: 50 }, () => executor.run(callsOf('ok', 'ok', 'lost'), { signal })),
    );
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('recursion into the same executor', () => {
  it('runs a batch inside a batch without a deadlock', async () => {
    const outer: Tool = probeTool('outer', async (args) => {
      const depth = Number(args.depth ?? 0);
      if (depth === 5) return 'bottom';
      const result = await executor.execute('outer', { depth: depth + 1 });
      return `${depth} > ${result.output}`;
    });
    const executor = executorOf([outer]);
    const result = await executor.execute('outer', {});
    expect(result.output).toBe('0 > 1 > 2 > 3 > 4 > bottom');
  });

  it('answers a tool that closes the executor it runs in', async () => {
    const closes: Tool = probeTool('closes', async () => {
      await executor.close();
      return 'closed';
    });
    const executor = executorOf([closes]);
    const result = await executor.execute('closes', {});
    expect(result.error?.code).toBe('cancelled');
  });
});

describe('handles after the answer', () => {
  it('are dead: files, processes and emit touch nothing', async () => {
    const seen: unknown[] = [];
    let done: () => void = () => {};
    const finished = new Promise<void>((resolve) => {
      done = resolve;
    });
    const late = probeTool(
      'late',
      (_, ctx) => {
        const { files, processes } = ctx;
        setTimeout(async () => {
          const attempts = [
            () => files.write('late.txt', Buffer.from('x'), { mode: 'create' }),
            () => ctx.files.read('package.json'),
            () => ctx.files.list('.'),
            () => processes.run({ shell: 'sh', command: 'echo x' }),
            () => ctx.processes.run({ shell: 'sh', command: 'echo x' }),
          ];
          for (const attempt of attempts) {
            seen.push(
              await attempt().then(
                () => 'done',
                (error: ToolError) => error.code,
              ),
            );
          }
          void ctx.emit('too late');
          done();
        }, 30);
        return 'answered';
      },
      { effects: () => [{ kind: 'unknown' }] },
    );
    const run = executorOf([late]).start(callsOf('late'));
    const types: string[] = [];
    for await (const event of run.events) types.push(event.type);
    await finished;
    expect(seen).toEqual(Array(5).fill('sandbox_violation'));
    expect(types).toEqual(['planned', 'started', 'completed']);
  });

  it('give a tool that takes its context apart the same as one that does not', async () => {
    const apart = probeTool('apart', (_, { emit, signal, callId }) => {
      void emit('live');
      return `${callId} ${signal.aborted}`;
    });
    const run = executorOf([apart]).start(callsOf('apart'));
    const chunks: string[] = [];
    for await (const event of run.events) if (event.type === 'stdout') chunks.push(event.chunk);
    expect((await run.results)[0]?.output).toBe('c0 false');
    expect(chunks).toEqual(['live']);
  });

  it('end the commands that a tool did not wait for', async () => {
    const token = sleepToken();
    const leaves = probeTool(
      'leaves',
      async (_, ctx) => {
        const running = ctx.processes.run({ shell: 'sh', command: `exec sleep ${token}` });
        void running.catch(() => {});
        while (living(token).length === 0) await pause(10);
        return 'left it';
      },
      { effects: () => [{ kind: 'unknown' }] },
    );
    const root = mkdtempSync(join(tmpdir(), 'leaves-'));
    const executor = executorOf([leaves], { root });
    const [result] = await executor.run(callsOf('leaves'));
    expect(result?.success).toBe(true);
    expect(living(token)).toEqual([]);
    rmSync(root, { recursive: true, force: true });
  });
});

describe('closing', () => {
  it('cancels what runs, answers it, and can be done twice', async () => {
    const hang = probeTool('hang', () => NEVER);
    const executor = executorOf([hang, ok]);
    const running = executor.run(callsOf('hang', 'ok'));
    await pause(10);
    const closing = executor.close();
    await executor.close();
    await closing;
    const results = await running;
    expect(results.map(({ error }) => [error?.code, error?.message, error?.details?.executed])).toEqual([
      ['cancelled', 'Cancelled: the executor was closed', 'maybe'],
      ['cancelled', 'Cancelled: the executor was closed', 'no'],
    ]);
    await expect(executor.run(callsOf('ok'))).rejects.toMatchObject({ code: 'cancelled' });
    await expect(executor.execute('ok', {})).rejects.toBeInstanceOf(ToolError);
    await expect(executor.invoke('ok', {})).rejects.toMatchObject({ code: 'cancelled' });
    expect(() => executor.start(callsOf('ok'))).toThrow(ToolError);
  });

  it('happens at the end of a scope', async () => {
    let kept: Executor;
    {
      await using executor = createExecutor({ policy: null, tools: [ok] });
      kept = executor;
      expect((await executor.execute('ok', {})).success).toBe(true);
    }
    await expect(kept.run([])).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('invoke()', () => {
  it('gives the output, or throws the code with the kept output', async () => {
    const bad = probeTool('bad', () => ({ text: 'printed', error: { message: 'no' } }));
    const executor = executorOf([ok, bad]);
    expect(await executor.invoke('ok', {})).toBe('fine');
    await expect(executor.invoke('bad', {})).rejects.toMatchObject({
      code: 'execution_failed',
      message: 'no',
      details: { output: 'printed', executed: 'yes' },
    });
  });
});
