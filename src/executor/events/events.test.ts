import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { BatchRun, Executor, ToolEvent } from '../../contract/executor.js';
import type { Tool } from '../../contract/tool.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';
import { callsOf, NEVER, pause, probeTool } from '../fixtures/probe-tool.js';
import { runProgram } from '../fixtures/run-program.js';

const opened: Executor[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((executor) => executor.close()));
});

const root = mkdtempSync(join(tmpdir(), 'events-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function executorOf(tools: readonly Tool[], options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({ policy: null, tools, root, ...options });
  opened.push(executor);
  return executor;
}

async function eventsOf(run: BatchRun): Promise<ToolEvent[]> {
  const events: ToolEvent[] = [];
  for await (const event of run.events) events.push(event);
  return events;
}

/** `id type` for each event, call by call. */
function orderOf(events: readonly ToolEvent[], callId: string): string[] {
  return events.filter((event) => event.callId === callId).map(({ type }) => type);
}

function textOf(events: readonly ToolEvent[], type: 'stdout' | 'stderr', callId = 'c0'): string {
  return events.map((event) => (event.type === type && event.callId === callId ? event.chunk : '')).join('');
}

/** Runs one command, of any kind. */
const command = probeTool(
  'command',
  async (args, ctx) => {
    const outcome = await ctx.processes.run({ shell: 'bash', command: String(args.command) });
    return String(outcome.stdout.totalBytes);
  },
  { effects: (args) => [{ kind: 'run', command: String(args.command), shell: 'bash' }] },
);
const ok = probeTool('ok', () => 'fine');

describe('the events of a call', () => {
  it('come in one order', async () => {
    const asks = probeTool(
      'asks',
      (_, ctx) => {
        void ctx.emit('out');
        void ctx.emit('err', 'stderr');
        return 'x';
      },
      { requiresApproval: true },
    );
    const calls = callsOf('asks', 'ok', 'lost', 'asks');
    const run = executorOf([asks, ok], {
      approver: () => ({ kind: 'approve_selected', ids: ['c0'], reasons: { c3: 'not this one' } }),
    }).start(calls);
    const events = await eventsOf(run);
    expect(orderOf(events, 'c0')).toEqual([
      'planned',
      'approval_requested',
      'approval_decided',
      'started',
      'stdout',
      'stderr',
      'completed',
    ]);
    expect(orderOf(events, 'c1')).toEqual(['planned', 'started', 'completed']);
    expect(orderOf(events, 'c2')).toEqual(['planned', 'completed']);
    expect(orderOf(events, 'c3')).toEqual(['planned', 'approval_requested', 'approval_decided', 'completed']);
    const results = await run.results;
    expect(events.flatMap((event) => (event.type === 'completed' ? [event.result] : []))).toEqual(results);
    expect(events.every(({ at }) => Math.abs(at - Date.now()) < 60_000)).toBe(true);
    // All questions are asked before anything runs.
    const firstStart = events.findIndex(({ type }) => type === 'started');
    expect(events.findLastIndex(({ type }) => type === 'approval_decided')).toBeLessThan(firstStart);
  });

  it('end with `completed` on every path, once', async () => {
    const tools = [
      ok,
      probeTool('throws', () => {
        throw new Error('x');
      }),
      probeTool(
        'hangs',
        (_, ctx) => {
          void ctx.emit('before');
          return NEVER;
        },
        { timeoutMs: 30 },
      ),
      probeTool('late', (_, ctx) => {
        setTimeout(() => ctx.emit('late'), 10);
        return 'x';
      }),
    ];
    const events = await eventsOf(executorOf(tools).start(callsOf('throws', 'hangs', 'late', 'ok')));
    expect(orderOf(events, 'c0')).toEqual(['planned', 'started', 'completed']);
    expect(orderOf(events, 'c1')).toEqual(['planned', 'started', 'stdout', 'completed']);
    expect(orderOf(events, 'c2')).toEqual(['planned', 'started', 'completed']);
    expect(orderOf(events, 'c3')).toEqual(['planned', 'started', 'completed']);
  });

  it('are all there when read after the results', async () => {
    const run = executorOf([ok]).start(callsOf('ok', 'lost'));
    await run.results;
    const events = await eventsOf(run);
    expect(orderOf(events, 'c0')).toEqual(['planned', 'started', 'completed']);
    expect(orderOf(events, 'c1')).toEqual(['planned', 'completed']);
  });

  it('of a parallel batch keep their order call by call', async () => {
    const talks = probeTool('talks', async (_, ctx) => {
      for (let line = 0; line < 20; line++) {
        await ctx.emit(`${line}\n`);
        await pause(1);
      }
      return 'x';
    });
    const events = await eventsOf(
      executorOf([talks]).start(callsOf('talks', 'talks', 'talks'), { parallel: true }),
    );
    for (const id of ['c0', 'c1', 'c2']) {
      expect(textOf(events, 'stdout', id)).toBe(
        Array.from({ length: 20 }, (_, line) => `${line}\n`).join(''),
      );
      const order = orderOf(events, id);
      expect([order[0], order[1], order.at(-1)]).toEqual(['planned', 'started', 'completed']);
    }
  });
});

describe('chunks', () => {
  it('are decoded and made harmless over their borders', { tags: ['soak'] }, async () => {
    const text = '€ é 😀 \u001b[31mred\u001b[0m end';
    const bytes = [...Buffer.from(text)].map((byte) => `\\\\x${byte.toString(16).padStart(2, '0')}`);
    const script = bytes.map((byte) => `printf '${byte.replace('\\\\', '\\')}'; sleep 0.01`).join('; ');
    const events = await eventsOf(
      executorOf([command]).start([{ id: 'c0', name: 'command', args: { command: script } }]),
    );
    expect(textOf(events, 'stdout')).toBe('€ é 😀 red end');
    const split = probeTool('split', (_, ctx) => {
      for (const part of ['a\u001b', '[3', '1mb\u001b]0;ti', 'tle\u0007c', '\ud83d', '\ude00'])
        void ctx.emit(part);
      return 'x';
    });
    const emitted = await eventsOf(executorOf([split]).start(callsOf('split')));
    expect(textOf(emitted, 'stdout')).toBe('abc😀');
  });

  it('never show a secret of the environment, wherever it is cut', async () => {
    const secret = 'zq81-very-secret-value-7731';
    process.env.EVENTS_API_KEY = secret;
    try {
      const tells = probeTool('tells', async (_, ctx) => {
        for (let at = 1; at < secret.length; at++) {
          void ctx.emit(`<${secret.slice(0, at)}`);
          await pause(1);
          void ctx.emit(`${secret.slice(at)}>`);
        }
        return {
          text: `it is ${secret}`,
          metadata: { deep: [{ secret: `x${secret}x` }] },
          structured: { secret },
        };
      });
      const run = executorOf([tells]).start(callsOf('tells'));
      const events = await eventsOf(run);
      expect(textOf(events, 'stdout').match(/</g)).toHaveLength(secret.length - 1);
      expect(JSON.stringify(events)).not.toContain('secret-value');
      expect(JSON.stringify(await run.results)).not.toContain('secret-value');
    } finally {
      delete process.env.EVENTS_API_KEY;
    }
  });
});

describe('a reader', () => {
  const BIG = { id: 'c0', name: 'command', args: { command: `head -c 50000000 /dev/zero | tr '\\0' x` } };

  it('that pauses gets every byte of 50 MB, and the memory stays small', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const { code, stdout, stderr } = await runProgram(
      `
      const command = probeTool('command', async (args, ctx) => String((await ctx.processes.run({ shell: 'bash', command: String(args.command) })).stdout.totalBytes), { effects: () => [{ kind: 'unknown' }] });
      const executor = createExecutor({ policy: null, approver: null, tools: [command] });
      const used = () => { globalThis.gc(); const m = process.memoryUsage(); return m.heapUsed + m.arrayBuffers; };
      const before = used();
      let bytes = 0; let pauses = 0; let most = 0;
      const run = executor.start([${JSON.stringify(BIG)}]);
      for await (const event of run.events) {
        if (event.type !== 'stdout') continue;
        bytes += event.chunk.length;
        if (bytes > 10_000_000 * pauses) { pauses++; await pause(300); most = Math.max(most, used() - before); }
      }
      const [result] = await run.results;
      console.log(JSON.stringify({ bytes, output: result.output, mb: Math.round(most / 1e6) }));
      await executor.close();
    `,
      ['--expose-gc'],
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const told = JSON.parse(stdout) as { bytes: number; output: string; mb: number };
    expect(told).toMatchObject({ bytes: 50_000_000, output: '50000000' });
    expect(told.mb).toBeLessThan(20);
  });

  it('that is missing slows nothing down', { tags: ['soak'], timeout: 180_000 }, async () => {
    const run = executorOf([command]).start([BIG]);
    const [result] = await run.results;
    expect(result?.output).toBe('50000000');
    const events = await eventsOf(run);
    expect(orderOf(events, 'c0').filter((type) => type !== 'stdout')).toEqual([
      'planned',
      'started',
      'progress',
      'completed',
    ]);
    expect(textOf(events, 'stdout').length).toBeLessThan(300_000);
  });

  it('that stalls suspends no timeout, and the results come', async () => {
    const slow = { ...BIG, args: { command: 'yes' } };
    const tools = [
      probeTool('command', command.execute as never, {
        effects: () => [{ kind: 'unknown' }],
        timeoutMs: 300,
      }),
      ok,
    ];
    const run = executorOf(tools).start([slow, { id: 'c1', name: 'ok', args: {} }]);
    const reader = run.events[Symbol.asyncIterator]();
    await reader.next();
    const results = await run.results;
    expect(results.map(({ error }) => error?.code)).toEqual(['timeout', undefined]);
    await reader.return?.();
  });

  it('that stalls delays a tool that waits for emit(), until its timeout', async () => {
    let emitted = 0;
    const floods = probeTool(
      'floods',
      async (_, ctx) => {
        while (!ctx.signal.aborted) {
          await ctx.emit('x'.repeat(20_000));
          emitted++;
          await null;
        }
        return 'x';
      },
      { timeoutMs: 100 },
    );
    const run = executorOf([floods, ok]).start(callsOf('floods', 'ok'));
    const reader = run.events[Symbol.asyncIterator]();
    await reader.next();
    const results = await run.results;
    expect(results.map(({ error }) => error?.code)).toEqual(['timeout', undefined]);
    expect(emitted).toBeLessThan(100);
    await reader.return?.();
  });

  it('that leaves blocks no writer', async () => {
    const run = executorOf([command]).start([BIG]);
    for await (const event of run.events) if (event.type === 'stdout') break;
    const [result] = await run.results;
    expect(result?.output).toBe('50000000');
  });
});

describe('cancel()', () => {
  it('is harmless before, after and twice', async () => {
    const run = executorOf([ok]).start(callsOf('ok'));
    const results = await run.results;
    run.cancel();
    run.cancel('again');
    expect(results[0]?.success).toBe(true);
    const early = executorOf([ok, probeTool('hangs', () => NEVER)]).start(callsOf('hangs', 'ok'));
    early.cancel('because');
    early.cancel('other');
    const [first] = await early.results;
    expect(first?.error).toMatchObject({
      code: 'cancelled',
      message: 'Cancelled by user',
      details: { reason: 'because' },
    });
  });
});
