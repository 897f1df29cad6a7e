import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Effect } from '../contract/effect.js';
import type { Executor, RunOptions } from '../contract/executor.js';
import type { Tool } from '../contract/tool.js';
import { builtinTools } from './builtin-tools.js';
import { createExecutor } from './create-executor.js';
import type { ExecutorOptions } from './executor-options.js';
import { NEVER, pause, probeTool } from './fixtures/probe-tool.js';

let root: string;
const opened: Executor[] = [];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-queue-')));
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((executor) => executor.close()));
  rmSync(root, { recursive: true, force: true });
});

function executorWith(tools: readonly Tool[], options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({ root, tools, policy: null, approver: null, ...options });
  opened.push(executor);
  return executor;
}

/** Records the beginning and the end of each call; its arguments name its paths. */
function touching(log: string[], ms = 15): Tool {
  return probeTool(
    'touch',
    async ({ name }) => {
      log.push(`${String(name)} begins`);
      await pause(ms);
      log.push(`${String(name)} ends`);
      return 'ok';
    },
    { effects: ({ effects }) => (effects ?? []) as unknown as Effect[] },
  );
}

const touch = (name: string, ...effects: Effect[]) => ({
  id: name,
  name: 'touch',
  args: { name, effects: effects as never },
});
const write = (path: string): Effect => ({ kind: 'write', path });
const read = (path: string): Effect => ({ kind: 'read', path });

describe('calls of one conversation that are handed over one by one', () => {
  it.each<[string, RunOptions]>([
    ['in a conversation with a name', { conversation: 'c' }],
    ['in the executor’s own', {}],
  ])('edit one file in order of arrival, and all succeed, %s', async (_, options) => {
    writeFileSync(join(root, 'a.txt'), 'one two three\n');
    const executor = executorWith(builtinTools());
    const edit = (id: string, old_string: string, new_string: string) => ({
      id,
      name: 'edit_file',
      args: { path: 'a.txt', old_string, new_string },
    });
    const answers = await Promise.all([
      executor.run([edit('1', 'one', 'ONE')], options),
      executor.run([edit('2', 'ONE two', 'ONE TWO')], options),
      executor.run([edit('3', 'TWO three', 'TWO THREE')], options),
    ]);
    expect(answers.flat().map(({ success, error }) => [success, error?.message])).toEqual([
      [true, undefined],
      [true, undefined],
      [true, undefined],
    ]);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ONE TWO THREE\n');
  });

  it('never overlap where they conflict, and do not wait where they do not', async () => {
    const log: string[] = [];
    const executor = executorWith([touching(log)]);
    await Promise.all([
      executor.run([touch('w1', write('a'))]),
      executor.run([touch('w2', write('a'))]),
      executor.run([touch('r', read('a'))]),
      executor.run([touch('other', write('b'))]),
      executor.run([touch('nothing')]),
    ]);
    const at = (entry: string): number => log.indexOf(entry);
    expect(at('w1 ends')).toBeLessThan(at('w2 begins'));
    expect(at('w2 ends')).toBeLessThan(at('r begins'));
    expect(at('other begins')).toBeLessThan(at('w1 ends'));
    expect(at('nothing begins')).toBeLessThan(at('w1 ends'));
  });

  it('do not wait for calls of another conversation', async () => {
    const log: string[] = [];
    const executor = executorWith([touching(log, 30)]);
    await Promise.all(
      ['c1', 'c2'].map((conversation) =>
        executor.run([touch(conversation, { kind: 'unknown' })], { conversation }),
      ),
    );
    expect(log.slice(0, 2)).toEqual(['c1 begins', 'c2 begins']);
  });

  it('wait for what is not planned yet, in order of arrival', async () => {
    const log: string[] = [];
    const slow = probeTool('slow', () => `${log.push('slow')}`, {
      effects: () => [write('a')],
      input: {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: async (value: unknown) => {
            await pause(40);
            return { value };
          },
          jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
        },
      } as never,
    } as never);
    const executor = executorWith([slow, touching(log)]);
    await Promise.all([
      executor.run([{ id: '1', name: 'slow', args: {} }]),
      executor.run([touch('later', write('a'))]),
    ]);
    expect(log).toEqual(['slow', 'later begins', 'later ends']);
  });

  it('are not timed while they wait, and start nothing once they are cancelled', async () => {
    const log: string[] = [];
    const executor = executorWith([touching(log, 120)], { timeouts: { defaultMs: 200 } });
    const abort = new AbortController();
    const first = executor.run([touch('1', write('a'))]);
    const second = executor.run([touch('2', write('a'))]);
    const third = executor.run([touch('3', write('a'))], { signal: abort.signal });
    abort.abort();
    expect((await third)[0]).toMatchObject({ error: { code: 'cancelled', details: { executed: 'no' } } });
    expect(log).toEqual(['1 begins']);
    expect((await first)[0]?.success).toBe(true);
    expect((await second)[0]?.success).toBe(true);
  });

  it('do not wait for a call that was stopped and never returned', async () => {
    const log: string[] = [];
    const stuck = probeTool('stuck', () => NEVER, { effects: () => [write('a')], timeoutMs: 30 });
    const executor = executorWith([stuck, touching(log)]);
    const [[first], [second]] = await Promise.all([
      executor.run([{ id: '1', name: 'stuck', args: {} }]),
      executor.run([touch('2', write('a'))]),
    ]);
    expect(first?.error?.code).toBe('timeout');
    expect(second?.success).toBe(true);
  });

  it('stay apart from a batch that runs its own calls side by side', async () => {
    const log: string[] = [];
    const executor = executorWith([touching(log)]);
    await Promise.all([
      executor.run([touch('a1', write('a')), touch('b1', write('b'))], { parallel: true }),
      executor.run([touch('a2', write('a')), touch('c2', write('c'))], { parallel: true }),
    ]);
    const at = (entry: string): number => log.indexOf(entry);
    expect(at('b1 begins')).toBeLessThan(at('a1 ends'));
    expect(at('a2 begins')).toBeGreaterThan(at('a1 ends'));
    expect(at('c2 begins')).toBeLessThan(at('a1 ends'));
  });
});

describe('a call that a tool makes itself', () => {
  it('runs at once in the conversation of its parent, at any depth, and never behind it', async () => {
    let executor: Executor;
    const nest = probeTool(
      'nest',
      async ({ depth }) => {
        if (depth === 0) return 'bottom';
        const [inner] = await executor.run(
          [{ id: `d${String(depth)}`, name: 'nest', args: { depth: Number(depth) - 1 } }],
          { conversation: 'c' },
        );
        return `${inner?.output} ${String(depth)}`;
      },
      { effects: () => [{ kind: 'unknown' }] },
    );
    executor = executorWith([nest]);
    const [result] = await executor.run([{ id: 'top', name: 'nest', args: { depth: 3 } }], {
      conversation: 'c',
    });
    expect(result?.output).toBe('bottom 1 2 3');
  });

  it('runs at once from an approver and from middleware too', async () => {
    writeFileSync(join(root, 'a.txt'), 'content\n');
    const seen: string[] = [];
    const look = async (): Promise<void> => {
      const [result] = await executor.run(
        [{ id: `look${seen.length}`, name: 'read_file', args: { path: 'a.txt' } }],
        {
          approver: null,
        },
      );
      seen.push(result?.output ?? '');
    };
    const executor: Executor = executorWith(builtinTools(), {
      policy: {},
      approver: async () => {
        await look();
        return { kind: 'approve_all' };
      },
      middleware: [
        async (call, _context, next) => {
          if (call.name === 'edit_file') await look();
          return next();
        },
      ],
    });
    const args = { path: 'a.txt', old_string: 'content', new_string: 'changed' };
    const [result] = await executor.run([{ id: '1', name: 'edit_file', args }]);
    expect(result?.success).toBe(true);
    expect(seen).toHaveLength(2);
  });
});

describe('a thousand conflicting calls that arrive at once', () => {
  it('all run, in order', async () => {
    const order: number[] = [];
    const count = probeTool('count', async ({ n }) => `${order.push(Number(n))}`, {
      effects: () => [write('a')],
    });
    const executor = executorWith([count]);
    const runs = Array.from({ length: 1_000 }, (_, n) =>
      executor.run([{ id: `${n}`, name: 'count', args: { n } }]),
    );
    const results = (await Promise.all(runs)).flat();
    expect(results.every(({ success }) => success)).toBe(true);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).toHaveLength(1_000);
  });
});
