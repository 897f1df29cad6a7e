import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../contract/call.js';
import { createPolicy } from '../../policy/create-policy.js';
import { builtinTools } from '../builtin-tools.js';
import { defineTool } from '../declare/define-tool.js';
import type { ExecutorOptions } from '../executor-options.js';
import { countingTool, executorOf } from '../fixtures/plan-fixture.js';

const call = (args: unknown, id: string, name: string): ToolCall =>
  ({ id, name, args }) as unknown as ToolCall;

describe('modes', () => {
  it('disabled shows no tools and runs nothing', async () => {
    const { tool, runs } = countingTool();
    const executor = executorOf([tool], { mode: 'disabled' });
    expect(executor.definitions()).toEqual([]);
    const [result] = await executor.run([call({}, 'a', 'count')]);
    expect(result).toMatchObject({ success: false, error: { code: 'tools_disabled' }, metadata: {} });
    expect(runs).toEqual([]);
  });

  it('parse_only shows the tools, and says that the calls are pending', async () => {
    const { tool, runs } = countingTool();
    const executor = executorOf([tool], { mode: 'parse_only' });
    expect(executor.definitions()).toHaveLength(1);
    const [result] = await executor.run([call({}, 'a', 'count')]);
    expect(result).toMatchObject({ error: { code: 'tools_disabled' }, metadata: { pending: true } });
    expect(runs).toEqual([]);
  });

  it('enabled shows exactly what is registered, in byte order, the same every time', () => {
    const tools = ['b', 'a', 'C'].map((name) => countingTool(name).tool);
    const executor = executorOf(tools);
    expect(executor.definitions().map(({ name }) => name)).toEqual(['C', 'a', 'b']);
    expect(JSON.stringify(executor.definitions())).toBe(
      JSON.stringify(executorOf([...tools].reverse()).definitions()),
    );
  });
});

describe('refusals', () => {
  it('show only clean text of what a model wrote', async () => {
    const name = 'x\u001b[2J\u202e';
    const token = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
    const executor = executorOf([countingTool().tool]);
    const calls = [call({}, 'a', name), call({ [token]: 1n }, 'b', 'count')];
    const { calls: planned } = await executor.plan(calls);
    const results = await executor.run(calls);
    for (const text of [
      ...planned.map(({ reason }) => reason),
      ...results.map(({ error }) => error?.message),
    ]) {
      expect(text).not.toMatch(/[\u001b\u202e]/);
      expect(text).not.toContain(token);
    }
  });

  it('keep to the limit of the output', async () => {
    const { tool } = countingTool();
    const executor = executorOf([tool], { output: { maxBytes: 60 } });
    const [result] = await executor.run([call({}, 'a', `ghost${'x'.repeat(70)}`)]);
    expect(Buffer.byteLength(result?.error?.message ?? '')).toBeLessThanOrEqual(60);
    expect(result?.truncated).toBe(true);
  });
});

type PolicyGiven = NonNullable<ExecutorOptions['policy']> | null;

const REFUSED = { disposition: 'pre_resolved', reason: 'no' } as const;

function fail(): never {
  throw new Error('no');
}

describe('definitions()', () => {
  const tools = ['a', 'b', 'run'].map((name) =>
    defineTool({
      name,
      aliases: [`${name}_alias`],
      description: 'd',
      input: { type: 'object' },
      effects: () => [],
      execute: () => 'ok',
    }),
  );
  const shown = (policy: PolicyGiven, more: ExecutorOptions = {}) =>
    executorOf(tools, { policy, ...more })
      .definitions()
      .map(({ name }) => name);

  it.each<[string, PolicyGiven, readonly string[]]>([
    ['no policy', null, ['a', 'b', 'run']],
    ['nothing said', {}, ['a', 'b', 'run']],
    ['a name on the denylist', { denylist: ['b'] }, ['a', 'run']],
    ['an alias on the denylist', { denylist: ['b_alias'] }, ['a', 'run']],
    ['a name that is on both lists', { allowlist: ['b'], denylist: ['b'] }, ['a', 'run']],
    ['the policy switched off', { enabled: false }, []],
    ['a rule that denies names', { rules: [{ decision: 'deny', tool: 'r*' }] }, ['a', 'b']],
    [
      'a rule that denies an alias',
      { rules: [{ decision: 'deny', tool: 'run_alias', reason: 'no' }] },
      ['a', 'b'],
    ],
    [
      'a rule that denies by more than the name',
      { rules: [{ decision: 'deny', tool: 'a', path: 'x' }] },
      ['a', 'b', 'run'],
    ],
    [
      'a rule that denies by an argument',
      { rules: [{ decision: 'deny', tool: 'a', args: { '/x': 1 } }] },
      ['a', 'b', 'run'],
    ],
    [
      'a rule for another mode',
      { rules: [{ decision: 'deny', tool: 'a', mode: 'auto' }] },
      ['a', 'b', 'run'],
    ],
    [
      'a rule that denies, and a more precise one that allows',
      {
        rules: [
          { decision: 'deny', tool: 'a' },
          { decision: 'allow', tool: 'a', path: 'x' },
        ],
      },
      ['a', 'b', 'run'],
    ],
    [
      'a rule that denies, and a less precise one that allows',
      {
        rules: [
          { decision: 'deny', tool: 'a' },
          { decision: 'allow', tool: '*' },
        ],
      },
      ['b', 'run'],
    ],
    [
      'a project that denies what the program allows',
      {
        rules: [{ decision: 'allow', tool: 'a', path: 'x' }],
        tiers: { project: [{ decision: 'deny', tool: 'a' }] },
      },
      ['b', 'run'],
    ],
    ['mode deny', { mode: 'deny', allowlist: ['a_alias'] }, ['a']],
    [
      'mode deny, and a rule that allows some',
      { mode: 'deny', allowlist: [], rules: [{ decision: 'allow', tool: 'b', path: 'x' }] },
      ['b'],
    ],
    ['a policy that refuses by name', createPolicy({ denylist: ['a'] }), ['b', 'run']],
    ['a policy with rules', createPolicy({ rules: [{ decision: 'deny', tool: 'a' }] }), ['b', 'run']],
    [
      'a policy that only screens',
      { decide: fail, screen: (name) => (name === 'a' ? REFUSED : undefined) },
      ['b', 'run'],
    ],
    ['a policy that fails', { decide: fail, screen: fail }, []],
    ['a policy that is a function', () => REFUSED, ['a', 'b', 'run']],
  ])('leaves out what is refused whatever the arguments: %s', async (_what, policy, expected) => {
    expect(shown(policy)).toEqual(expected);
    // The left-out calls are really refused.
    const executor = executorOf(tools, { policy, approver: null });
    for (const { name } of tools) {
      if (!expected.includes(name)) expect((await executor.execute(name, {})).success).toBe(false);
    }
  });

  it('leave out run_command until it is taken off the denylist, and tell what builtin tools touch', () => {
    const names = (options: ExecutorOptions) =>
      executorOf(builtinTools(), options)
        .definitions()
        .map(({ name }) => name);
    expect(names({})).toContain('bash');
    expect(names({})).not.toContain('run_command');
    expect(names({ policy: { denylist: [] } })).toContain('run_command');
    for (const { title, annotations } of executorOf(builtinTools(), { policy: null }).definitions()) {
      expect(title).toMatch(/^[A-Z]/);
      expect(annotations).toBeDefined();
    }
    expect(
      executorOf(builtinTools())
        .definitions()
        .find(({ name }) => name === 'read_file'),
    ).toMatchObject({
      title: 'Read File',
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
    });
  });
});
