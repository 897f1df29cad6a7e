import { afterEach, describe, expect, it } from 'vitest';
import type { Effect } from '../../contract/effect.js';
import type { Executor } from '../../contract/executor.js';
import type { Tool } from '../../contract/tool.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';
import { callsOf, NEVER, pause, probeTool } from '../fixtures/probe-tool.js';

const opened: Executor[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((executor) => executor.close()));
});

function executorOf(tools: readonly Tool[], options: ExecutorOptions = {}): Executor {
  const limits = { maxToolCallsPerBatch: 1_000 };
  const executor = createExecutor({ policy: null, approver: null, limits, tools, ...options });
  opened.push(executor);
  return executor;
}

/** Tools that record when they begin and end, and how many run at the same time. */
function recording() {
  const log: string[] = [];
  let running = 0;
  let most = 0;
  const tool = (name: string, effects: readonly Effect[] = [], ms = 15): Tool =>
    probeTool(
      name,
      async () => {
        log.push(`+${name}`);
        running++;
        most = Math.max(most, running);
        await pause(ms);
        running--;
        log.push(`-${name}`);
        return name;
      },
      { effects: () => effects },
    );
  return { log, tool, most: () => most };
}

describe('calls of a batch', () => {
  it('run one at a time, in call order, by default', async () => {
    const { log, tool, most } = recording();
    const results = await executorOf([tool('a'), tool('b'), tool('c')]).run(callsOf('b', 'a', 'c'));
    expect(log).toEqual(['+b', '-b', '+a', '-a', '+c', '-c']);
    expect(most()).toBe(1);
    expect(results.map(({ output }) => output)).toEqual(['b', 'a', 'c']);
  });

  it('run as many at a time as `concurrency` says, whatever they touch, answered in call order', async () => {
    const { tool, most } = recording();
    const same: readonly Effect[] = [{ kind: 'write', path: 'same.txt' }];
    const tools = [tool('a', same, 30), tool('b', same, 5)];
    const names = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'a' : 'b'));
    const results = await executorOf(tools).run(callsOf(...names), { concurrency: 3 });
    expect(most()).toBe(3);
    expect(results.map(({ callId, output }) => `${callId} ${output}`)).toEqual(
      names.map((name, index) => `c${index} ${name}`),
    );
  });

  it('run eight at a time with `parallel`, or as many as `concurrency` says', async () => {
    for (const [options, expected] of [
      [{ parallel: true }, 8],
      [{ parallel: true, concurrency: 3 }, 3],
      [{ parallel: true, concurrency: 1 }, 1],
      [{ parallel: true, concurrency: 20 }, 20],
    ] as const) {
      const { tool, most } = recording();
      await executorOf([tool('a')]).run(callsOf(...Array<string>(24).fill('a')), options);
      expect(most()).toBe(expected);
    }
  });

  const path = (kind: 'read' | 'write' | 'delete', at: string): readonly Effect[] => [{ kind, path: at }];
  const CONFLICTS: readonly (readonly [string, readonly Effect[], readonly Effect[], boolean])[] = [
    ['two reads of a file', path('read', 'x'), path('read', 'x'), false],
    ['a read and a write of a file', path('read', 'x'), path('write', 'x'), true],
    ['two writes of a file', path('write', 'x'), path('write', 'x'), true],
    ['two writes of two files', path('write', 'x'), path('write', 'y'), false],
    ['names that only begin alike', path('write', 'x'), path('write', 'xy'), false],
    ['a directory and what is in it', path('delete', 'd'), path('read', 'd/e/f'), true],
    ['the same in the other order', path('read', 'd/e/f'), path('write', 'd'), true],
    ['two spellings of a path', path('write', './/x'), path('read', 'x'), true],
    ['the root and anything', path('read', '.'), path('write', 'any'), true],
    ['a command and a read', [{ kind: 'run', command: 'true', shell: 'sh' }], path('read', 'x'), true],
    [
      'two commands',
      [{ kind: 'run', command: 'true', shell: 'sh' }],
      [{ kind: 'run', command: 'true', shell: 'sh' }],
      true,
    ],
    ['a command and nothing', [{ kind: 'run', command: 'true', shell: 'sh' }], [], false],
    ['the unknown and a fetch', [{ kind: 'unknown' }], [{ kind: 'fetch', url: 'https://a.example' }], true],
    ['the unknown and nothing', [{ kind: 'unknown' }], [], false],
    [
      'two fetches',
      [{ kind: 'fetch', url: 'https://a.example' }],
      [{ kind: 'fetch', url: 'https://a.example' }],
      false,
    ],
    ['two questions', [{ kind: 'ask' }], [{ kind: 'ask' }], true],
    ['a question and a write', [{ kind: 'ask' }], path('write', 'x'), false],
  ];
  for (const [label, first, second, conflict] of CONFLICTS) {
    it(`with \`parallel\`: ${label} ${conflict ? 'wait for each other' : 'run side by side'}`, async () => {
      const { log, tool } = recording();
      await executorOf([tool('a', first), tool('b', second)]).run(callsOf('a', 'b'), { parallel: true });
      const expected = conflict ? ['+a', '-a', '+b', '-b'] : ['+a', '+b', '-a', '-b'];
      expect(log).toEqual(conflict ? expected : expect.arrayContaining(expected));
      expect(log.indexOf('+b') < log.indexOf('-a')).toBe(!conflict);
    });
  }

  it('with `parallel`, one that has to wait lets later ones pass, and still runs after what it waits for', async () => {
    const { log, tool } = recording();
    const tools = [
      tool('w1', path('write', 'x'), 40),
      tool('w2', path('write', 'x'), 5),
      tool('free', path('read', 'y'), 5),
    ];
    const results = await executorOf(tools).run(callsOf('w1', 'w2', 'free'), { parallel: true });
    expect(log.indexOf('-free')).toBeLessThan(log.indexOf('+w2'));
    expect(log.indexOf('-w1')).toBeLessThan(log.indexOf('+w2'));
    expect(results.map(({ output }) => output)).toEqual(['w1', 'w2', 'free']);
  });

  it('nest with `parallel` in the same executor without a deadlock', async () => {
    const outer: Tool = probeTool(
      'outer',
      async () => {
        const inner = await executor.run(callsOf('inner', 'inner', 'inner'), { parallel: true });
        return inner.map(({ output }) => output).join('');
      },
      { effects: () => [{ kind: 'unknown' }] },
    );
    const executor = executorOf([
      outer,
      probeTool(
        'inner',
        async () => {
          await pause(2);
          return 'i';
        },
        { effects: () => [{ kind: 'unknown' }] },
      ),
    ]);
    const results = await executor.run(callsOf(...Array<string>(12).fill('outer')), { parallel: true });
    expect(results.map(({ output }) => output)).toEqual(Array(12).fill('iii'));
  });
});

describe('a failure', () => {
  const ok = probeTool('ok', () => 'fine');
  const bad = probeTool('bad', () => {
    throw new Error('no');
  });

  it('does not stop the others', async () => {
    const results = await executorOf([ok, bad]).run(callsOf('bad', 'ok', 'lost', 'ok'));
    expect(results.map(({ success }) => success)).toEqual([false, true, false, true]);
  });

  it('stops the others with failFast: they are answered cancelled, and pre-resolved calls keep their text', async () => {
    const results = await executorOf([ok, bad]).run(callsOf('ok', 'bad', 'ok', 'lost'), { failFast: true });
    expect(results.map(({ error }) => error?.code)).toEqual([
      undefined,
      'execution_failed',
      'cancelled',
      'unknown_tool',
    ]);
    expect(results[2]?.error?.details).toEqual({ reason: 'fail_fast', executed: 'no' });
  });

  it('ends with failFast what runs beside it', async () => {
    const slow = probeTool('slow', () => NEVER);
    const later = probeTool('later', async () => {
      await pause(20);
      throw new Error('no');
    });
    const results = await executorOf([slow, later, ok]).run(callsOf('slow', 'later', 'ok', 'slow'), {
      failFast: true,
      parallel: true,
    });
    expect(results.map(({ error }) => error?.code)).toEqual([
      'cancelled',
      'execution_failed',
      undefined,
      'cancelled',
    ]);
    expect(results[0]?.error?.details?.executed).toBe('maybe');
  });
});

describe('the time a call may take', () => {
  /** Runs a tool that hangs and reads the limit from its answer. */
  async function limitOf(more: Parameters<typeof probeTool>[2], timeouts: ExecutorOptions['timeouts'] = {}) {
    const hang = probeTool('hang', () => NEVER, more);
    const [result] = await executorOf([hang], { timeouts }).run([
      { id: 'c', name: 'hang', args: { timeout: 41 } },
    ]);
    return result?.error?.message;
  }
  const told = (ms: number): string => `hang timed out after ${ms}ms`;

  it("is the tool's own before all", async () => {
    expect(await limitOf({ timeoutMs: 31, defaultTimeoutMs: 32 }, { defaultMs: 33 })).toBe(told(31));
    expect(await limitOf({ timeoutMs: (args) => Number(args.timeout) }, { defaultMs: 33 })).toBe(told(41));
  });

  it("is a class that the configuration names, before the tool's default", async () => {
    const category = 'execution';
    expect(await limitOf({ category, defaultTimeoutMs: 32 }, { shellCommandsMs: 34 })).toBe(told(34));
    expect(await limitOf({ category, defaultTimeoutMs: 32 }, { defaultMs: 33 })).toBe(told(32));
    expect(await limitOf({ category: 'file', timeoutMs: () => undefined }, { fileOperationsMs: 35 })).toBe(
      told(35),
    );
    expect(await limitOf({ category: 'search' }, { fileOperationsMs: 35, defaultMs: 2_000 })).toBe(told(35));
    expect(await limitOf({ category: 'external' }, { externalToolsMs: 36 })).toBe(told(36));
  });

  it('is the general default in the end', async () => {
    expect(await limitOf({}, { defaultMs: 37 })).toBe(told(37));
    expect(await limitOf({ timeoutMs: () => Number.NaN }, { defaultMs: 37 })).toBe(told(37));
    expect(await limitOf({ timeoutMs: () => -1 }, { defaultMs: 37 })).toBe(told(37));
    expect(await limitOf({ timeoutMs: () => '5' as never }, { defaultMs: 37 })).toBe(told(37));
  });

  it('may be longer than timers can wait', async () => {
    const quick = probeTool(
      'quick',
      async () => {
        await pause(5);
        return 'x';
      },
      { timeoutMs: () => Number.POSITIVE_INFINITY },
    );
    const [result] = await executorOf([quick]).run(callsOf('quick'));
    expect(result?.success).toBe(true);
  });

  it('that cannot be determined answers the call', async () => {
    const odd = probeTool('odd', () => 'x', {
      timeoutMs: () => {
        throw Symbol('no');
      },
    });
    const [result] = await executorOf([odd]).run(callsOf('odd'));
    expect(result?.error).toMatchObject({ code: 'execution_failed', details: { executed: 'no' } });
  });
});
