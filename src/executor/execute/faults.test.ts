import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import type { Executor } from '../../contract/executor.js';
import type { Journal } from '../../contract/journal.js';
import type { Registry } from '../../contract/tool.js';
import { createMemoryJournal } from '../../journal/memory/memory-journal.js';
import { systemClock } from '../../platform/clock/clock.js';
import { builtinTools } from '../builtin-tools.js';
import { createExecutor } from '../create-executor.js';
import { createRegistry } from '../declare/registry.js';
import type { ExecutorOptions } from '../executor-options.js';
import { NEVER, probeTool } from '../fixtures/probe-tool.js';

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-faults-')));
  writeFileSync(join(root, 'a.txt'), 'content\n');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The failure of each collaborator, at the point of its call. */
const FAULTS = {
  throws: () => {
    throw new Error('broken');
  },
  rejects: () => Promise.reject(new Error('broken')),
  'never returns': () => NEVER,
  'answers nonsense': () => Number.NaN as never,
} as const;
type Fault = keyof typeof FAULTS;

const CALLS = [
  { id: '1', name: 'read_file', args: { path: 'a.txt' } },
  { id: '2', name: 'change', args: {} },
  { id: '3', name: 'read_file', args: { path: 'a.txt' } },
];

function tools(input: object = { type: 'object' }, output?: object) {
  const change = probeTool('change', async () => ({ text: 'changed', structured: { ok: true } }), {
    effects: () => [{ kind: 'write', path: 'b.txt' }],
    input,
    ...(output === undefined ? {} : { output }),
  } as never);
  return [...builtinTools(), change];
}

/** Exactly one answer for each call, in time; and the executor closes. */
async function expectAnswers(
  options: ExecutorOptions,
  prepare: (executor: Executor) => void = () => {},
): Promise<readonly ToolResult[]> {
  const executor = createExecutor({
    root,
    tools: tools(),
    policy: null,
    approver: null,
    timeouts: { defaultMs: 150, fileOperationsMs: 150 },
    ...options,
  });
  prepare(executor);
  const run = executor.start(CALLS, { conversation: 'c' });
  const completed: string[] = [];
  const reading = (async () => {
    for await (const event of run.events) if (event.type === 'completed') completed.push(event.callId);
  })();
  const results = await inTime(run.results, 'results');
  await inTime(reading, 'events');
  expect(results.map(({ callId }) => callId)).toEqual(['1', '2', '3']);
  expect(completed.sort()).toEqual(['1', '2', '3']);
  await inTime(
    executor.close().catch(() => {}),
    'close()',
  );
  return results;
}

async function inTime<T>(work: Promise<T>, what: string): Promise<T> {
  let forget = (): void => {};
  const late = new Promise<never>((_, reject) => {
    forget = systemClock.after(12_000, () => reject(new Error(`${what} did not come`)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    forget();
  }
}

const faults = Object.keys(FAULTS) as Fault[];

describe('every call is answered once', () => {
  const OPERATIONS = ['accept', 'claim', 'note', 'finish', 'decide', 'keep', 'batches', 'close'] as const;
  it.each(OPERATIONS.flatMap((name) => faults.map((fault) => [name, fault] as const)))(
    'when the journal’s %s %s',
    async (name, fault) => {
      if (fault === 'answers nonsense' && name !== 'note' && name !== 'close') return;
      const inner = createMemoryJournal();
      const journal = new Proxy(inner, {
        get(target, key) {
          if (key === name) return FAULTS[fault];
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }) as Journal;
      const results = await expectAnswers({ journal });
      if (name === 'accept' || name === 'claim') {
        const change = results[1];
        expect(change?.error).toMatchObject({ code: 'journal_unavailable', details: { executed: 'no' } });
        // A call that was not accepted has no record; a call that was not claimed has a record that says so.
        expect(change?.metadata.recorded).toBe(name === 'accept' ? false : undefined);
      }
      if (name === 'finish') {
        expect(results[0]).toMatchObject({ success: true, metadata: { recorded: false } });
      }
    },
  );

  it.each(['find', 'list'].flatMap((name) => (['throws'] as const).map((fault) => [name, fault] as const)))(
    'when the registry’s %s %s',
    async (name, fault) => {
      const inner = createRegistry(tools());
      const registry = new Proxy(inner, {
        get(target, key) {
          if (key === name) return FAULTS[fault];
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }) as Registry;
      const results = await expectAnswers({ tools: registry });
      if (name === 'find') expect(results.every(({ success }) => !success)).toBe(true);
    },
  );

  it.each(faults)('when a tool’s schema for arguments %s', async (fault) => {
    const input = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: FAULTS[fault],
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
      },
    };
    const results = await expectAnswers({ tools: tools(input) });
    expect(results[1]?.success).toBe(false);
    expect(results[1]?.error?.details?.executed).toBe('no');
  });

  it.each(faults)('when a tool’s schema for its output %s', async (fault) => {
    const output = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: FAULTS[fault],
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
      },
    };
    const results = await expectAnswers({ tools: tools({ type: 'object' }, output) });
    expect(results[1]?.success).toBe(false);
  });

  it.each(faults)('when the policy %s', async (fault) => {
    const results = await expectAnswers({ policy: { decide: FAULTS[fault] } as never });
    expect(results.every(({ error }) => error?.code === 'policy_denied')).toBe(true);
  });

  it.each(faults)('when the observer of decisions %s', async (fault) => {
    const results = await expectAnswers({
      policy: { allowlist: ['read_file', 'change'], promptSideEffects: false },
      onDecision: FAULTS[fault] as never,
    });
    expect(results.map(({ success }) => success)).toEqual([true, true, true]);
  });

  it.each(faults)('when middleware %s', async (fault) => {
    const results = await expectAnswers({ middleware: [FAULTS[fault] as never] });
    expect(results.every(({ success }) => !success)).toBe(true);
  });

  it.each(faults)('when the approver %s and the batch is cancelled', async (fault) => {
    const executor = createExecutor({ root, tools: tools(), approver: FAULTS[fault] as never });
    const run = executor.start(CALLS);
    setTimeout(() => run.cancel(), 50);
    const results = await inTime(run.results, 'results');
    expect(results[0]?.success || results[0]?.error?.code === 'cancelled').toBe(true);
    expect(results[1]?.success).toBe(false);
    await inTime(executor.close(), 'close()');
  });

  it.each(faults)('when a reviewer %s and the batch is cancelled', async (fault) => {
    const executor = createExecutor({
      root,
      tools: tools(),
      policy: null,
      reviewers: [FAULTS[fault] as never],
    });
    const run = executor.start(CALLS);
    setTimeout(() => run.cancel(), 50);
    const results = await inTime(run.results, 'results');
    expect(results.every(({ success }) => !success)).toBe(true);
    await inTime(executor.close(), 'close()');
  });

  it.each(
    (['now', 'monotonic', 'after'] as const).flatMap((name) => faults.map((fault) => [name, fault] as const)),
  )('when the clock’s %s %s', async (name, fault) => {
    const clock = { ...systemClock, [name]: FAULTS[fault] };
    const results = await expectAnswers({ clock: clock as never });
    expect(results.map(({ success }) => success)).toEqual([true, true, true]);
  });

  it.each(faults)('when the logger %s', async (fault) => {
    const broken = FAULTS[fault] as never;
    const logger = { debug: broken, info: broken, warn: broken, error: broken };
    const throwing = probeTool('change', () => Promise.reject(new Error('no')));
    const results = await expectAnswers({ logger, tools: [...builtinTools(), throwing] });
    expect(results.map(({ success }) => success)).toEqual([true, false, true]);
  });

  it.each(
    (['find', 'keep', 'forgetWhere'] as const).flatMap((name) =>
      faults.filter((fault) => fault !== 'rejects').map((fault) => [name, fault] as const),
    ),
  )('when the cache’s %s %s', async (name, fault) => {
    const results = await expectAnswers({}, (executor) => {
      Object.defineProperty(executor.cache, name, { value: FAULTS[fault] });
    });
    expect(results.map(({ toolName }) => toolName)).toEqual(['read_file', 'change', 'read_file']);
  });

  it('when what a tool returns breaks whatever looks at it', async () => {
    const hostile = new Proxy(
      {},
      {
        get() {
          throw new Error('do not look');
        },
        getPrototypeOf() {
          throw new Error('do not look');
        },
        ownKeys() {
          throw new Error('do not look');
        },
      },
    );
    for (const value of [
      hostile,
      { text: 'a', metadata: hostile },
      { text: 'a', structured: hostile },
      { text: hostile },
      { text: 'a', error: hostile },
    ]) {
      const change = probeTool('change', async () => value);
      const results = await expectAnswers({ tools: [...builtinTools(), change] });
      expect(results[1]?.success).toBe(false);
      const thrown = probeTool('change', () => {
        throw value;
      });
      expect((await expectAnswers({ tools: [...builtinTools(), thrown] }))[1]?.success).toBe(false);
    }
  });

  it('when a tool deletes and overwrites what it finds in its context', async () => {
    const change = probeTool('change', async (_args, ctx) => {
      const target = ctx as unknown as Record<string, unknown>;
      for (const object of [target, Object.getPrototypeOf(target) as Record<string, unknown>]) {
        for (const key of Object.getOwnPropertyNames(object)) {
          Reflect.set(object, key, () => NEVER);
          Reflect.deleteProperty(object, key);
          Reflect.defineProperty(object, key, { value: undefined });
        }
      }
      for (const handle of [ctx.files, ctx.processes, ctx.search, ctx.logger, ctx.limits]) {
        for (const key of Object.keys(handle)) Reflect.set(handle, key, () => NEVER);
      }
      Object.setPrototypeOf(target, null);
    });
    const results = await expectAnswers({ tools: [...builtinTools(), change] });
    expect(results[0]?.success && results[2]?.success).toBe(true);
    // A tool of the next call finds everything unchanged.
    const whole = probeTool('change', async (_args, ctx) => {
      ctx.logger.info({}, 'still here');
      return `${ctx.callId} ${ctx.cwd} ${ctx.signal.aborted}`;
    });
    const after = await expectAnswers({ tools: [...builtinTools(), whole] });
    expect(after[1]?.output).toBe(`2 ${root} false`);
  });
});

describe('the context of a tool', () => {
  it('is frozen, shows what is documented, and nothing else', async () => {
    const seen: Record<string, unknown>[] = [];
    const change = probeTool('change', async (_args, ctx) => {
      const names: string[] = [];
      for (const name in ctx) names.push(name);
      const prototype: object = Object.getPrototypeOf(ctx);
      seen.push({
        names: names.sort(),
        isFrozen: Object.isFrozen(ctx) && Object.isFrozen(prototype),
        builtBy: (ctx as unknown as { constructor: unknown }).constructor === Object,
        sameHandles: new Set([ctx.signal, ctx.signal, ctx.files, ctx.files]).size,
      });
      return 'ok';
    });
    await expectAnswers({ tools: [...builtinTools(), change] });
    expect(seen).toEqual([
      {
        names: [
          'agents',
          'ask',
          'callId',
          'cwd',
          'dryRun',
          'emit',
          'files',
          'http',
          'idempotencyKey',
          'limits',
          'logger',
          'memory',
          'processes',
          'search',
          'signal',
          'trace',
        ],
        isFrozen: true,
        builtBy: true,
        sameHandles: 2,
      },
    ]);
  });

  it('cannot be used to write after the answer, whatever the tool tries', async () => {
    let late: Promise<unknown> = Promise.resolve();
    const change = probeTool(
      'change',
      async (_args, ctx) => {
        const { files } = ctx;
        late = new Promise((resolve) => setTimeout(resolve, 30)).then(() =>
          files.write('b.txt', new Uint8Array([1]), { mode: 'overwrite' }),
        );
        late.catch(() => {});
        return 'answered';
      },
      { effects: () => [{ kind: 'write', path: 'b.txt' }] },
    );
    await expectAnswers({ tools: [...builtinTools(), change] });
    await expect(late).rejects.toMatchObject({ code: 'sandbox_violation' });
  });
});
