import { afterEach, describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import type { Middleware } from '../../contract/context.js';
import type { Executor } from '../../contract/executor.js';
import { ToolError } from '../../errors/tool-error.js';
import { systemClock } from '../../platform/clock/clock.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';
import { callsOf, NEVER, pause, probeTool } from '../fixtures/probe-tool.js';
import { createMetrics, createTiming, loggingMiddleware } from './builtin-middleware.js';

const opened: Executor[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((executor) => executor.close()));
});

let ran = 0;
const tool = probeTool('tool', () => {
  ran++;
  return { text: 'from the tool', metadata: { n: 1 } };
});

async function runThrough(middleware: readonly unknown[], options: ExecutorOptions = {}, runOptions = {}) {
  ran = 0;
  const executor = createExecutor({
    policy: null,
    tools: [tool],
    timeouts: { defaultMs: 100 },
    middleware: middleware as Middleware[],
    ...options,
  });
  opened.push(executor);
  const results = await executor.run(callsOf('tool', 'tool'), runOptions);
  expect(results.map(({ callId, toolName }) => `${callId} ${toolName}`)).toEqual(['c0 tool', 'c1 tool']);
  return results[0] as ToolResult;
}

describe('middleware', () => {
  it('wraps in order, the first outermost, and sees input, output and context', async () => {
    const seen: string[] = [];
    const layer =
      (name: string): Middleware =>
      async (call, context, next) => {
        seen.push(
          `${name}> ${call.id} ${JSON.stringify(call.args)} ${context.risk} ${context.effects.length} ${context.dryRun}`,
        );
        const result = await next();
        seen.push(`${name}< ${result.output}`);
        return result;
      };
    const result = await runThrough([layer('a'), layer('b')]);
    expect(seen.slice(0, 4)).toEqual([
      'a> c0 {} low 0 false',
      'b> c0 {} low 0 false',
      'b< from the tool',
      'a< from the tool',
    ]);
    expect(result.output).toBe('from the tool');
    expect(ran).toBe(2);
  });

  it('sees a failure of the tool as a result, and of an inner layer as a rejection', async () => {
    const seen: unknown[] = [];
    await runThrough([
      async (_call: unknown, _context: unknown, next: () => Promise<ToolResult>) => {
        try {
          return await next();
        } catch (error) {
          seen.push((error as Error).message);
          return {
            success: true,
            output: 'mended',
            metadata: {},
            executionTimeMs: 1,
            truncated: false,
            callId: 'x',
            toolName: 'y',
          };
        }
      },
      () => {
        throw new Error('inner');
      },
    ]);
    expect(seen).toEqual(['inner', 'inner']);
  });

  it('may change the result: it is cleaned and cut again, and answers to the call', async () => {
    const result = await runThrough(
      [
        async (_c: unknown, _x: unknown, next: () => Promise<ToolResult>) => ({
          ...(await next()),
          callId: 'other',
          output: `\u001b[31m${'x'.repeat(200)}`,
        }),
      ],
      { output: { maxBytes: 100 } },
    );
    expect(result).toMatchObject({ callId: 'c0', success: true, truncated: true, metadata: { n: 1 } });
    expect(Buffer.byteLength(result.output)).toBe(100);
    expect(result.output).not.toContain('\u001b');
  });

  it('cannot write past the cleaning into what next() gave', async () => {
    const result = await runThrough([
      async (_c: unknown, _x: unknown, next: () => Promise<ToolResult>) => {
        const given = (await next()) as { output: string };
        given.output = '\u001b[31mraw';
        return given;
      },
    ]);
    expect(JSON.stringify(result)).not.toContain('\\u001b');
  });

  it('does not take room from the context twice', async () => {
    const result = await runThrough(
      [
        async (_c: unknown, _x: unknown, next: () => Promise<ToolResult>) => ({
          ...(await next()),
          output: 'y'.repeat(90),
        }),
      ],
      {},
      { availableCapacityBytes: 100 },
    );
    expect(result).toMatchObject({ output: 'y'.repeat(90), truncated: false });
  });

  it('leaves an output unchanged that its tool has limited', async () => {
    const own = probeTool('own', () => ({ text: 'z'.repeat(300), truncatable: false }));
    const executor = createExecutor({
      policy: null,
      tools: [own],
      output: { maxBytes: 100 },
      middleware: [async (_call, _context, next) => ({ ...(await next()), metadata: { seen: true } })],
    });
    opened.push(executor);
    const [result] = await executor.run(callsOf('own'));
    expect(result).toMatchObject({ output: 'z'.repeat(300), truncated: false, metadata: { seen: true } });
  });

  const PANICS: readonly (readonly [string, unknown, string])[] = [
    [
      'throws at once',
      () => {
        throw new Error('sync');
      },
      'no',
    ],
    [
      'rejects',
      async () => {
        throw new Error('async');
      },
      'no',
    ],
    ['rejects with nothing', () => Promise.reject(undefined), 'no'],
    [
      'throws after next()',
      async (_c: unknown, _x: unknown, next: () => Promise<unknown>) => {
        await next();
        throw new Error('after');
      },
      'yes',
    ],
    [
      'calls next() twice',
      async (_c: unknown, _x: unknown, next: () => Promise<unknown>) => {
        await next();
        return next();
      },
      'yes',
    ],
  ];
  for (const [label, layer, executed] of PANICS) {
    it(`that ${label} is answered tool_panicked, executed: ${executed}`, async () => {
      const result = await runThrough([layer]);
      expect(result.error?.code).toBe('tool_panicked');
      expect(result.error?.message).toMatch(/^Middleware panicked: /);
      expect(result.error?.details?.executed).toBe(executed);
      expect(ran).toBe(executed === 'no' ? 0 : 2);
    });
  }

  it.each([
    ['before next()', 'no', 0, async () => Promise.reject(new ToolError('policy_denied', 'Not on Fridays.'))],
    [
      'after next()',
      'yes',
      2,
      async (_c: unknown, _x: unknown, next: () => Promise<unknown>) => {
        await next();
        throw new ToolError('policy_denied', 'Not on Fridays.', { details: { day: 5 } });
      },
    ],
  ])(
    'that throws a ToolError %s gives the call its code, executed: %s',
    async (_when, executed, count, layer) => {
      const result = await runThrough([layer]);
      expect(result.error).toMatchObject({
        code: 'policy_denied',
        message: 'Not on Fridays.',
        details: { executed },
      });
      expect(ran).toBe(count);
    },
  );

  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('trap');
      },
    },
  );
  const GARBAGE: readonly (readonly [string, unknown])[] = [
    ['undefined', undefined],
    ['a text', 'text'],
    ['an empty object', {}],
    ['a success without an output', { success: true, metadata: {}, executionTimeMs: 1 }],
    ['a success that is none', { success: 'yes', output: 'x', metadata: {}, executionTimeMs: 1 }],
    ['a failure without an error', { success: false, output: 'x', metadata: {}, executionTimeMs: 1 }],
    [
      'a failure of an unknown code',
      {
        success: false,
        output: 'x',
        metadata: {},
        executionTimeMs: 1,
        error: { code: 'nope', message: 'm' },
      },
    ],
    ['a time that is no number', { success: true, output: 'x', metadata: {}, executionTimeMs: Number.NaN }],
    ['a proxy that throws', hostile],
  ];
  for (const [label, value] of GARBAGE) {
    it(`that returns ${label} is answered, even through an outer layer that reads it`, async () => {
      const result = await runThrough([createMetrics().middleware, async () => value]);
      expect(result.success).toBe(false);
      expect(['invalid_tool_output', 'tool_panicked']).toContain(result.error?.code);
      expect(result.error?.details?.executed).toBe('no');
    });
  }

  it("that never settles is answered by the call's timeout: before next()", async () => {
    const result = await runThrough([() => NEVER]);
    expect(result.error).toMatchObject({
      code: 'timeout',
      message: 'tool timed out after 100ms',
      details: { executed: 'no' },
    });
    expect(ran).toBe(0);
  });

  it("that never settles is answered by the call's timeout: after next(), with the output of the tool", async () => {
    const result = await runThrough([
      async (_c: unknown, _x: unknown, next: () => Promise<unknown>) => {
        await next();
        return NEVER;
      },
    ]);
    expect(result).toMatchObject({
      output: 'from the tool',
      error: { code: 'timeout', details: { executed: 'maybe' } },
    });
  });

  it('that calls next() after the answer runs nothing', async () => {
    let late: Promise<unknown> | undefined;
    const result = await runThrough([
      (_c: unknown, _x: unknown, next: () => Promise<unknown>) => {
        setTimeout(() => {
          late = next();
        }, 20);
        return Promise.resolve({ success: true, output: 'instead', metadata: {}, executionTimeMs: 0 });
      },
    ]);
    await pause(60);
    expect(late).toBeDefined();
    expect(result).toMatchObject({ success: true, output: 'instead', truncated: false });
    expect(ran).toBe(0);
  });

  it('that does not wait for next() is answered with its own result, and the tool runs once', async () => {
    const result = await runThrough([
      async (_c: unknown, _x: unknown, next: () => Promise<unknown>) => {
        void next();
        return { success: true, output: 'instead', metadata: {}, executionTimeMs: 0 };
      },
    ]);
    expect(result.output).toBe('instead');
    expect(ran).toBe(2);
  });

  it('is not asked for calls that do not run', async () => {
    let asked = 0;
    const executor = createExecutor({
      policy: null,
      tools: [tool],
      middleware: [
        (_call, _context, next) => {
          asked++;
          return next();
        },
      ],
    });
    opened.push(executor);
    await executor.run(callsOf('lost'));
    await executor.run(callsOf('tool'), { signal: AbortSignal.abort() });
    expect(asked).toBe(0);
  });
});

describe('the middleware that comes along', () => {
  const bad = probeTool('bad', () => {
    throw new ToolError('stale_file', 'old');
  });

  it('logs start and end without arguments or outputs, times, and counts', async () => {
    const lines: string[] = [];
    const write = (data: object, message: string): void => {
      lines.push(`${message} ${JSON.stringify(data)}`);
    };
    const logger = { debug: write, info: write, warn: write, error: write };
    const times: [string, number][] = [];
    const metrics = createMetrics();
    const timing = createTiming({
      clock: systemClock,
      report: (call, ms) => {
        times.push([call.id, ms]);
      },
    });
    const executor = createExecutor({
      policy: null,
      tools: [tool, bad],
      middleware: [loggingMiddleware(logger), timing, metrics.middleware],
    });
    opened.push(executor);
    await executor.run([
      { id: 'a', name: 'tool', args: { password: 'hidden-argument' } },
      { id: 'b', name: 'bad', args: {} },
      { id: 'c', name: 'bad', args: {} },
    ]);
    expect(lines.map((line) => line.split(' {')[0])).toEqual([
      'tool call started',
      'tool call succeeded',
      'tool call started',
      'tool call failed',
      'tool call started',
      'tool call failed',
    ]);
    expect(lines.join('')).not.toMatch(/hidden-argument|from the tool/);
    expect(times.map(([id]) => id)).toEqual(['a', 'b', 'c']);
    expect(times.every(([, ms]) => ms >= 0)).toBe(true);
    expect(metrics.snapshot()).toMatchObject({
      tool: { totalExecutions: 1, successfulExecutions: 1, failedExecutions: 0, failuresByCode: {} },
      bad: {
        totalExecutions: 2,
        successfulExecutions: 0,
        failedExecutions: 2,
        failuresByCode: { stale_file: 2 },
      },
    });
    metrics.reset();
    expect(metrics.snapshot()).toEqual({});
  });

  it('has times written to the log of the executor when nothing else is asked for', async () => {
    const lines: object[] = [];
    const write = (data: object, message?: string): void => void lines.push({ ...data, message });
    const logger = { debug: write, info: write, warn: write, error: write };
    await runThrough([createTiming()], { logger });
    const line = { tool: 'tool', durationMs: expect.any(Number), message: 'tool call took' };
    expect(lines).toEqual([
      { callId: 'c0', ...line },
      { callId: 'c1', ...line },
    ]);
  });

  it.each([{ report: 'x' }, { clock: {} }, { reprot: () => {} }, 5])('refuses the options %j', (options) => {
    expect(() => createTiming(options as object)).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining('createTiming') }),
    );
  });

  it('counts what is called like something every object has', async () => {
    const metrics = createMetrics();
    const odd = probeTool('constructor', () => 'x');
    const executor = createExecutor({ policy: null, tools: [odd], middleware: [metrics.middleware] });
    opened.push(executor);
    await executor.run(callsOf('constructor'));
    expect(metrics.snapshot().constructor).toMatchObject({ totalExecutions: 1 });
  });
});

describe('a logger that throws', () => {
  it('changes no answer', async () => {
    const fail = (): never => {
      throw new Error('the disk is full');
    };
    const bad = probeTool('bad', () => {
      throw new Error('boom');
    });
    const executor = createExecutor({
      policy: null,
      tools: [bad, tool],
      logger: { debug: fail, info: fail, warn: fail, error: fail },
    });
    opened.push(executor);
    const results = await executor.run(callsOf('bad', 'tool'));
    expect(results.map(({ error }) => error?.message)).toEqual(['bad failed: boom', undefined]);
  });
});
