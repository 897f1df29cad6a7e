import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../contract/call.js';
import type { Policy } from '../../contract/policy.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { defineTool } from '../declare/define-tool.js';
import type { ExecutorOptions } from '../executor-options.js';
import { countingTool, executorOf, folder, snapshot } from '../fixtures/plan-fixture.js';

const call = (args: unknown = {}, id = 'a', name = 'target'): ToolCall =>
  ({ id, name, args }) as unknown as ToolCall;

function target(faults: { summary?: boolean } = {}) {
  return defineTool({
    name: 'target',
    aliases: ['Target'],
    description: 'd',
    input: {
      type: 'object',
      properties: { path: { type: 'string' }, pad: { type: 'string' } },
      required: ['path'],
      additionalProperties: false,
    },
    effects: ({ path }) => [{ kind: 'write', path }],
    summarize: () => {
      if (faults.summary) throw new Error('no words');
      return 'writes';
    },
    execute: () => 'ran',
  });
}

describe('the order of planning', () => {
  const OUTSIDE = { path: '../x' };
  const WRONG = { path: 1 };
  const HUGE = { path: 1, pad: 'x'.repeat(300) };
  const limits = { maxToolArgsBytes: 200 };
  // Every row has the fault of its own code and of the row below; the first call of the batch makes the second a
  // duplicate.
  const rows: readonly (readonly [ErrorCode, readonly ToolCall[], ExecutorOptions])[] = [
    ['tools_disabled', [call(), call()], { mode: 'disabled', policy: { enabled: false } }],
    ['policy_disabled', [call(), call()], { policy: { enabled: false, denylist: ['target'] } }],
    ['duplicate_tool_call_id', [call(), call()], { policy: { denylist: ['target'] } }],
    [
      'denylisted',
      [call({}, 'x', 'ghost'), call({}, 'b', 'ghost')],
      { policy: { denylist: ['ghost'] }, limits: { maxToolCallsPerBatch: 1 } },
    ],
    [
      'unknown_tool',
      [call({}, 'x'), call({}, 'b', 'ghost')],
      { policy: { denylist: [] }, limits: { maxToolCallsPerBatch: 1 } },
    ],
    ['limit_exceeded', [call({}, 'x'), call(WRONG, 'b')], { limits: { maxToolCallsPerBatch: 1 } }],
    ['limit_exceeded', [call(HUGE)], { limits }],
    ['bad_args', [call({ ...OUTSIDE, more: 1 })], {}],
    ['sandbox_violation', [call(OUTSIDE)], { policy: { mode: 'deny' } }],
    ['policy_denied', [call({ path: 'ok' })], { policy: { mode: 'deny' } }],
    ['execution_failed', [call({ path: 'ok' })], { policy: { mode: 'prompt' } }],
  ];

  it.each(rows)('answers %s before what comes later', async (code, calls, options) => {
    const executor = executorOf([target({ summary: true })], options);
    const planned = (await executor.plan(calls)).calls.at(-1);
    expect(planned?.disposition).toBe('pre_resolved');
    expect(planned?.result?.error?.code).toBe(code);
    const ran = (await executor.run(calls)).at(-1);
    expect(ran?.error).toEqual(planned?.result?.error);
    expect(ran?.error?.details?.executed).toBe('no');
  });

  it('asks for approval last', async () => {
    const executor = executorOf([target()]);
    expect((await executor.run([call({ path: 'ok' })]))[0]?.error?.code).toBe('approval_unavailable');
  });

  it('says the words of a disabled policy', async () => {
    const executor = executorOf([target()], { policy: { enabled: false } });
    expect((await executor.run([call()]))[0]?.error?.message).toBe('Tool execution disabled by policy');
  });

  it('takes a list entry for every name of a tool', async () => {
    const denied = executorOf([target()], { policy: { denylist: ['Target'] } });
    expect((await denied.plan([call({ path: 'ok' })])).calls[0]?.result?.error?.code).toBe('denylisted');
    const allowed = executorOf([target()], { policy: { allowlist: ['target'] } });
    const planned = await allowed.plan([call({ path: 'ok' }, 'a', 'Target')]);
    expect(planned.calls[0]).toMatchObject({ disposition: 'execute_now', toolName: 'Target' });
  });
});

describe('limits', () => {
  it('takes as many calls as a batch may have and answers the others', async () => {
    const { tool, runs } = countingTool();
    const calls = Array.from({ length: 10 }, (_, index) => call({}, `c${index}`, 'count'));
    const results = await executorOf([tool]).run(calls);
    expect(results.map(({ success }) => success)).toEqual(Array.from(calls, (_, index) => index < 8));
    expect(runs).toHaveLength(8);
    expect(results[8]?.error).toMatchObject({ code: 'limit_exceeded', details: { max: 8 } });
  });

  it.each([
    ['a', 262_144 - 8],
    ['\n', (262_144 - 8) / 2],
    ['\u0001', Math.floor((262_144 - 8) / 6)],
    ['é', (262_144 - 8) / 2],
    ['🌍', (262_144 - 8) / 4],
  ])('counts the bytes of %j as JSON writes them', async (unit, fits) => {
    const { tool } = countingTool();
    const executor = executorOf([tool]);
    const args = (count: number) => ({ s: unit.repeat(count) });
    expect(Buffer.byteLength(JSON.stringify(args(fits)))).toBeLessThanOrEqual(262_144);
    expect((await executor.execute('count', args(fits))).success).toBe(true);
    expect((await executor.execute('count', args(fits + 1))).error?.code).toBe('limit_exceeded');
  });

  it('lets a tool set its own limit in place of the general one', async () => {
    const wide = { ...countingTool('wide').tool, maxArgsBytes: 400_000 };
    const narrow = { ...countingTool('narrow').tool, maxArgsBytes: 10 };
    const executor = executorOf([wide, narrow]);
    expect((await executor.execute('wide', { s: 'x'.repeat(300_000) })).success).toBe(true);
    expect((await executor.execute('narrow', { s: 'xxx' })).error?.message).toContain('10 bytes');
  });

  it('gives the kind of a denial in its details too (D094, D095)', async () => {
    const detailsOf = async (options: ExecutorOptions, calls: readonly ToolCall[] = [call()]) =>
      (await executorOf([target()], options).run(calls)).at(-1)?.error?.details;
    expect(await detailsOf({ policy: { denylist: ['target'] } })).toEqual({
      reason: 'Denylisted',
      tool: 'target',
      executed: 'no',
    });
    const disabled = { reason: 'Disabled', executed: 'no' };
    expect(await detailsOf({ policy: { enabled: false } })).toEqual(disabled);
    expect(await detailsOf({ mode: 'disabled' })).toEqual(disabled);
    const exceeded = { reason: 'LimitsExceeded', executed: 'no' };
    const many = [call({}, 'x'), call({}, 'y')];
    expect(await detailsOf({ limits: { maxToolCallsPerBatch: 1 } }, many)).toMatchObject(exceeded);
    expect(await detailsOf({ limits: { maxToolArgsBytes: 9 } }, [call({ path: '' })])).toMatchObject(
      exceeded,
    );
    expect(await detailsOf({}, [call(), call()])).toEqual({ id: 'a', executed: 'no' });
  });

  it('names the limit that was exceeded', async () => {
    const { tool } = countingTool();
    const { error } = await executorOf([tool]).execute('count', { a: new Array(100_001).fill(0) });
    expect(error?.code).toBe('limit_exceeded');
    expect(error?.message).toContain('100000 entries');
  });
});

describe('arguments', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  let read = 0;
  const getter = Object.defineProperty({}, 'x', { enumerable: true, get: () => ++read });
  const sparse = new Array<number>(3);
  sparse[1] = 1;
  const hostile: readonly (readonly [string, unknown])[] = [
    ['a text', 'x'],
    ['nothing', undefined],
    ['null', null],
    ['an array', []],
    ['a getter', getter],
    ['a getter inside', { list: [getter] }],
    ['a cycle', cyclic],
    ['a BigInt', { n: 1n }],
    ['NaN', { n: Number.NaN }],
    ['infinity', { n: Number.POSITIVE_INFINITY }],
    ['a symbol', { s: Symbol('x') }],
    ['a function', { f: () => 1 }],
    ['65 levels', nested(65)],
    ['__proto__', JSON.parse('{"__proto__":{"polluted":true}}')],
    ['__proto__ inside', JSON.parse('{"a":[{"__proto__":{"polluted":true}}]}')],
    ['half a surrogate pair', { s: '\ud83c' }],
    ['half a pair in a name', { '\udf0d': 1 }],
    ['a sparse array', { list: sparse }],
    ['a Date', { d: new Date() }],
    ['a Map', { m: new Map() }],
    ['a class instance', new (class Thing {})()],
    ['a revoked proxy', revoked()],
  ];

  function revoked(): object {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  }

  it.each(hostile)('refuses %s', async (_what, args) => {
    const { tool, runs } = countingTool();
    const executor = executorOf([tool]);
    const [result, next] = await executor.run([
      { ...call({}, 'a', 'count'), args: args as never },
      call({}, 'b', 'count'),
    ]);
    expect(result?.error?.code).toBe('bad_args');
    expect(next?.success).toBe(true);
    expect(runs).toHaveLength(1);
    expect(read).toBe(0);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('takes 64 levels, constructor as a name, and 0 for -0', async () => {
    const { tool, runs } = countingTool();
    const executor = executorOf([tool]);
    expect((await executor.execute('count', nested(64) as never)).success).toBe(true);
    await executor.execute('count', { constructor: -0 } as never);
    expect(Object.is((runs[1] as { constructor: unknown }).constructor, 0)).toBe(true);
  });

  it('takes a call as it was when it was handed in', async () => {
    const { tool, runs } = countingTool();
    const mine = { id: 'a', name: 'count', args: { list: [1] } };
    const running = executorOf([tool]).run([mine]);
    mine.args.list.push(2);
    mine.name = 'other';
    mine.id = 'z';
    expect((await running)[0]).toMatchObject({ callId: 'a', toolName: 'count', success: true });
    expect(runs).toEqual([{ list: [1] }]);
  });
});

describe('malformed calls', () => {
  it('are answered in their places', async () => {
    const { tool } = countingTool();
    const calls: unknown[] = [
      null,
      call({}, 'ok', 'count'),
      { name: 'count', args: {} },
      { id: 7, name: 'count', args: {} },
      'x',
      { id: 'named', args: {} },
    ];
    calls[7] = call({}, 'last', 'count');
    const results = await executorOf([tool]).run(calls as ToolCall[]);
    expect(results.map(({ callId, success }) => [callId, success])).toEqual([
      ['call_0', false],
      ['ok', true],
      ['call_2', false],
      ['call_3', false],
      ['call_4', false],
      ['named', false],
      ['call_6', false],
      ['last', true],
    ]);
    expect(results[0]?.error?.code).toBe('bad_args');
  });

  it('that throw when they are read are answered too', async () => {
    const thrower = Object.defineProperty({}, 'id', {
      get: () => {
        throw new Error('boo');
      },
    });
    const [result] = await executorOf([]).run([thrower as ToolCall]);
    expect(result?.error?.code).toBe('bad_args');
  });

  it('take their ids from the calls behind them', async () => {
    const { tool, runs } = countingTool();
    const executor = executorOf([tool]);
    const calls = [{ id: 'a', name: 5 } as unknown as ToolCall, call({}, 'a', 'count')];
    expect((await executor.run(calls)).map(({ error }) => error?.code)).toEqual([
      'bad_args',
      'duplicate_tool_call_id',
    ]);
    expect(runs).toEqual([]);
  });
});

describe('executor.plan()', () => {
  it('touches nothing, asks nobody, records nothing, and says what run would do', async () => {
    const root = folder();
    writeFileSync(join(root, 'there.txt'), 'x');
    const before = snapshot(root);
    let asked = 0;
    const executor = executorOf([target(), countingTool().tool], {
      root,
      journal: join(root, 'journal.db'),
      approver: () => {
        asked++;
        return { kind: 'approve_all' };
      },
      reviewers: [
        () => {
          asked++;
          return { kind: 'pass' };
        },
      ],
    });
    const plan = await executor.plan([
      call({ path: 'new.txt' }, '1'),
      call({}, '2', 'count'),
      call({ path: '../x' }, '3'),
      call({ path: 'there.txt' }, '4'),
    ]);
    expect(plan.calls.map(({ callId, disposition, risk }) => [callId, disposition, risk])).toEqual([
      ['1', 'requires_confirmation', 'medium'],
      ['2', 'execute_now', 'low'],
      ['3', 'pre_resolved', 'medium'],
      ['4', 'requires_confirmation', 'medium'],
    ]);
    expect(plan.calls[0]).toMatchObject({ effects: [{ kind: 'write', path: 'new.txt' }], summary: 'writes' });
    expect([asked, snapshot(root)]).toEqual([0, before]);
  });

  it('starts no process', async () => {
    const executor = executorOf([...(await import('../builtin-tools.js')).builtinTools()]);
    const children = () => execFileSync('ps', ['--ppid', String(process.pid), '-o', 'comm=']).toString();
    const before = children();
    const plan = await executor.plan([call({ command: 'sleep 5' }, 'a', 'bash')]);
    expect(plan.calls[0]).toMatchObject({ disposition: 'requires_confirmation' });
    expect(children()).toBe(before);
  });

  it('changes nothing for an empty list', async () => {
    expect(await executorOf([]).plan([])).toEqual({ calls: [] });
    expect(await executorOf([]).run([])).toEqual([]);
  });
});

describe('a policy of your own', () => {
  const policies: readonly (readonly [string, unknown, ErrorCode | undefined])[] = [
    ['that throws', { decide: () => fail() }, 'policy_denied'],
    ['whose screen throws', { screen: () => fail(), decide: () => ALLOW }, 'policy_denied'],
    ['that answers nothing', { decide: () => undefined }, 'policy_denied'],
    ['that answers a promise', { decide: async () => ALLOW }, 'policy_denied'],
    ['that answers what is no disposition', { decide: () => ({ disposition: 'yes' }) }, 'policy_denied'],
    ['that denies without a code', { decide: () => ({ disposition: 'pre_resolved' }) }, 'policy_denied'],
    [
      'that denies',
      { decide: () => ({ disposition: 'pre_resolved', code: 'denylisted', reason: 'r' }) },
      'denylisted',
    ],
    ['that allows', { decide: () => ALLOW }, undefined],
    ['that allows by name', { screen: () => ALLOW, decide: () => ALLOW }, undefined],
  ];
  const ALLOW = { disposition: 'execute_now', reason: 'r' } as const;
  function fail(): never {
    throw new Error('policy broken');
  }

  it.each(policies)('%s', async (_what, policy, code) => {
    const executor = executorOf([target()], { policy: policy as Policy });
    expect((await executor.plan([call({ path: 'a' })])).calls[0]?.result?.error?.code).toBe(code);
    expect((await executor.run([call({ path: 'a' })]))[0]?.error?.code).toBe(code);
  });

  it('cannot lift the sandbox', async () => {
    for (const policy of [{ decide: () => ALLOW }, null, { mode: 'auto' as const }]) {
      const executor = executorOf([target()], { policy });
      expect((await executor.run([call({ path: '../x' })]))[0]?.error?.code).toBe('sandbox_violation');
    }
  });

  it('can be none: then only what a tool requires is asked for', async () => {
    const root = folder();
    const asks = { ...target(), name: 'asks', aliases: [], requiresApproval: true };
    const executor = executorOf([target(), asks], { root, policy: null });
    const { calls } = await executor.plan([call({ path: 'a' }), call({ path: 'a' }, 'b', 'asks')]);
    expect(calls.map(({ disposition }) => disposition)).toEqual(['execute_now', 'requires_confirmation']);
  });
});
