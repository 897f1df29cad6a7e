import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ApprovalDecision, ApprovalRequest, Approver, Reviewer } from '../../contract/approval.js';
import type { ToolCall } from '../../contract/call.js';
import { defineTool } from '../declare/define-tool.js';
import type { ExecutorOptions } from '../executor-options.js';
import { executorOf } from '../fixtures/plan-fixture.js';

const TOKEN = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');

function setup(options: ExecutorOptions = {}) {
  const order: string[] = [];
  const write = defineTool({
    name: 'write',
    description: 'd',
    input: z.object({ path: z.string(), text: z.string().default('') }),
    effects: ({ path }) => [{ kind: 'write', path }],
    summarize: ({ path, text }) => `write ${path}: ${text}`,
    execute({ path, text }) {
      order.push(`write ${path} ${text}`);
      return 'written';
    },
  });
  const look = defineTool({
    name: 'look',
    description: 'd',
    input: { type: 'object' },
    effects: () => [],
    execute() {
      order.push('look');
      return 'seen';
    },
  });
  const guarded = defineTool({
    name: 'guarded',
    description: 'd',
    input: { type: 'object' },
    effects: () => [],
    requiresApproval: true,
    execute: () => 'done',
  });
  return { order, executor: executorOf([write, look, guarded], options) };
}

const write = (id: string, args: object = { path: `${id}.txt` }): ToolCall =>
  ({ id, name: 'write', args }) as ToolCall;
const look = (id: string): ToolCall => ({ id, name: 'look', args: {} });
const guarded = (id: string): ToolCall => ({ id, name: 'guarded', args: {} });
const codes = (results: readonly { error?: { code: string } | undefined }[]) =>
  results.map(({ error }) => error?.code);

describe('approval', () => {
  it('asks for all calls of a batch at once, before any of them runs', async () => {
    const asked: (readonly ApprovalRequest[])[] = [];
    const { order, executor } = setup({
      approver: (requests) => {
        order.push('asked');
        asked.push(requests);
        return { kind: 'approve_all' };
      },
    });
    const results = await executor.run([
      look('1'),
      write('2'),
      { id: '3', name: 'ghost', args: {} },
      write('4'),
    ]);
    expect(codes(results)).toEqual([undefined, undefined, 'unknown_tool', undefined]);
    expect(order).toEqual(['asked', 'look', 'write 2.txt ', 'write 4.txt ']);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.map(({ callId }) => callId)).toEqual(['2', '4']);
    expect(asked[0]?.[0]).toEqual({
      callId: '2',
      toolName: 'write',
      parts: [{ kind: 'arguments', json: { path: '2.txt' } }],
      summary: expect.stringMatching(/^write 2\.txt:/),
      risk: 'medium',
      containment: { transaction: false, network: false, undo: false },
      args: { path: '2.txt' },
      effects: [{ kind: 'write', path: '2.txt' }],
      reason: expect.stringContaining('not on the allowlist'),
      shown: [],
    });
  });

  it('shows a summary of one line, at most 200 characters, without secrets', async () => {
    const summaries: string[] = [];
    const { executor } = setup({
      approver: (requests) => {
        summaries.push(...requests.map(({ summary }) => summary));
        return { kind: 'deny_all' };
      },
    });
    const texts = ['🌍'.repeat(300), `a\nb\u001b[2Jc\u202e`, `token ${TOKEN} end`, 'x'.repeat(100_000)];
    await executor.run(texts.map((text, index) => write(`${index}`, { path: 'p', text })));
    expect(summaries).toHaveLength(4);
    for (const summary of summaries) {
      expect(summary.length).toBeLessThanOrEqual(200);
      expect(summary).not.toMatch(/[\p{Cc}\u202e]/u);
      expect(summary).not.toMatch(/\p{Surrogate}/u);
      expect(summary).not.toContain(TOKEN);
    }
  });

  const decisions: readonly (readonly [string, unknown, readonly (string | undefined)[]])[] = [
    ['approve_all', { kind: 'approve_all' }, [undefined, undefined]],
    ['deny_all', { kind: 'deny_all' }, ['user_denied', 'user_denied']],
    ['approve_selected', { kind: 'approve_selected', ids: ['b'] }, ['user_denied', undefined]],
    ['unknown ids', { kind: 'approve_selected', ids: ['zz'] }, ['user_denied', 'user_denied']],
    ['no ids', { kind: 'approve_selected' }, ['approval_unavailable', 'approval_unavailable']],
    [
      'ids that are a text',
      { kind: 'approve_selected', ids: 'ab' },
      ['approval_unavailable', 'approval_unavailable'],
    ],
    [
      'edits for a call that is not approved',
      { kind: 'approve_selected', ids: [], edits: { a: { path: 'e' } } },
      ['user_denied', 'user_denied'],
    ],
    [
      'a decision that throws when it is read',
      {
        kind: 'approve_selected',
        get ids() {
          throw new Error('boo');
        },
      },
      ['approval_unavailable', 'approval_unavailable'],
    ],
    ['nothing', undefined, ['approval_unavailable', 'approval_unavailable']],
    ['true', true, ['approval_unavailable', 'approval_unavailable']],
    ['an unknown kind', { kind: 'yes' }, ['approval_unavailable', 'approval_unavailable']],
  ];

  it.each(decisions)('%s', async (_what, decision, expected) => {
    const { order, executor } = setup({ approver: async () => decision as ApprovalDecision });
    expect(codes(await executor.run([write('a'), write('b')]))).toEqual(expected);
    expect(order).toHaveLength(expected.filter((code) => code === undefined).length);
  });

  it('tells the reason of a denial, cleaned, and takes nothing but text for one', async () => {
    const denials: ApprovalDecision[] = [
      { kind: 'deny_all', reason: 'not today\u001b[2J' },
      { kind: 'approve_selected', ids: [], reasons: { a: 'too big' } },
      { kind: 'deny_all', reason: { evil: 1n } as unknown as string },
    ];
    const messages: unknown[] = [];
    for (const denial of denials) {
      const { executor } = setup({ approver: () => denial });
      messages.push((await executor.run([write('a')]))[0]?.error?.message);
    }
    expect(messages[0]).toContain('not today');
    expect(messages[0]).not.toContain('\u001b');
    expect(messages[1]).toContain('too big');
    expect(messages[2]).toBe('User denied permission to run write');
  });

  it('plans edited arguments again, and runs exactly those', async () => {
    const edits = {
      ok: { path: 'other.txt', text: 'edited' },
      bad: { path: 7 },
      out: { path: '../x' },
      none: null,
    } as never;
    const { order, executor } = setup({
      approver: () => ({ kind: 'approve_selected', ids: ['ok', 'bad', 'out', 'none', 'same'], edits }),
    });
    const results = await executor.run(['ok', 'bad', 'out', 'none', 'same'].map((id) => write(id)));
    expect(codes(results)).toEqual([undefined, 'bad_args', 'sandbox_violation', 'bad_args', undefined]);
    expect(order).toEqual(['write other.txt edited', 'write same.txt ']);
  });

  it('is not fooled by ids that every object knows', async () => {
    const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const { order, executor } = setup({
      approver: () => ({ kind: 'approve_selected', ids, edits: {}, reasons: {} }),
    });
    const results = await executor.run(ids.map((id) => write(id, { path: 'p' })));
    expect(codes(results)).toEqual([undefined, undefined, undefined, undefined]);
    expect(order).toEqual(Array(4).fill('write p '));
    const denying = setup({ approver: () => ({ kind: 'approve_selected', ids: [], reasons: {} }) }).executor;
    for (const { error } of await denying.run(ids.map((id) => write(id, { path: 'p' })))) {
      expect(error?.message).toBe('User denied permission to run write');
    }
  });

  it('is for exactly what was shown: what the approver does to the request changes nothing', async () => {
    const { order, executor } = setup({
      approver: (requests) => {
        for (const request of requests) {
          tryTo(() => Object.assign(request.args, { path: '../evil' }));
          tryTo(() => Object.assign(request.effects[0] as object, { path: '../evil' }));
          tryTo(() => (request.effects as unknown[]).push({ kind: 'unknown' }));
          tryTo(() => Object.assign(request, { callId: 'other', args: { path: 'evil' } }));
        }
        return { kind: 'approve_selected', ids: ['a'] };
      },
    });
    const mine = { id: 'a', name: 'write', args: { path: 'a.txt', text: 'as shown' } };
    const running = executor.run([mine]);
    mine.args.text = 'changed';
    expect(codes(await running)).toEqual([undefined]);
    expect(order).toEqual(['write a.txt as shown']);
  });

  it('left out refuses, null skips, and the batch’s own approver beats the executor’s', async () => {
    expect(codes(await setup().executor.run([write('a'), guarded('g')]))).toEqual([
      'approval_unavailable',
      'approval_unavailable',
    ]);
    expect(codes(await setup({ approver: null }).executor.run([write('a'), guarded('g')]))).toEqual([
      undefined,
      undefined,
    ]);
    const { executor } = setup({ approver: null });
    const approver: Approver = () => ({ kind: 'deny_all' });
    expect(codes(await executor.run([write('a')], { approver }))).toEqual(['user_denied']);
  });

  it.each([
    ['throws', () => fail(new Error('no terminal'))],
    ['rejects', async () => fail(new Error('no terminal'))],
    ['throws what cannot be shown', () => fail(Object.create(null))],
  ])('that %s agrees to nothing', async (_what, approver) => {
    const { order, executor } = setup({ approver });
    expect(codes(await executor.run([write('a'), look('b')]))).toEqual(['approval_unavailable', undefined]);
    expect(order).toEqual(['look']);
  });

  it("that returns nothing is named in the hint, without the runtime's words", async () => {
    const [refused] = await setup({ approver: () => undefined as never }).executor.run([write('a')]);
    expect(refused?.error?.hint).toBe('The approver gave no decision.');
  });

  it.each<[string, object]>([
    ['edits in a Map', { kind: 'approve_selected', ids: ['a'], edits: new Map([['a', { path: 'b.txt' }]]) }],
    ['edits that are a text', { kind: 'approve_selected', ids: ['a'], edits: '{"a":{"path":"b.txt"}}' }],
    ['a decider that is no text', { kind: 'approve_all', by: 7 }],
  ])('with %s approves nothing, and does not run the original arguments', async (_, decision) => {
    const { order, executor } = setup({ approver: () => decision as ApprovalDecision });
    const [refused] = await executor.run([write('a')]);
    expect(refused?.error).toMatchObject({
      code: 'approval_unavailable',
      hint: expect.stringContaining('cannot be read'),
      details: { executed: 'no' },
    });
    expect(order).toEqual([]);
  });

  it('that never comes ends with the batch', async () => {
    const { order, executor } = setup({ approver: () => new Promise(() => {}) });
    const run = executor.start([write('a'), look('b')]);
    setTimeout(() => run.cancel('enough'), 20);
    const results = await run.results;
    expect(codes(results)).toEqual(['cancelled', 'cancelled']);
    // The same answer as for the call that was only stopped before its start.
    const details = { reason: 'enough', executed: 'no' };
    expect(results.map(({ error }) => error?.details)).toEqual([details, details]);
    expect(order).toEqual([]);
  });

  it('is asked for a listed name too where the tool itself requires it', async () => {
    const { executor } = setup({ policy: { mode: 'auto', allowlist: ['guarded'] } });
    const { calls } = await executor.plan([guarded('g'), write('w')]);
    expect(calls.map(({ disposition }) => disposition)).toEqual(['requires_confirmation', 'execute_now']);
  });
});

describe('review', () => {
  const pass: Reviewer = () => ({ kind: 'pass' });
  const allow: Reviewer = () => ({ kind: 'allow' });
  const ask: Reviewer = async () => ({ kind: 'ask', reason: 'look twice' });
  const deny: Reviewer = () => ({ kind: 'deny', reason: 'no\u001b[2J' });
  const change =
    (args: unknown): Reviewer =>
    () => ({ kind: 'change', args: args as never });

  const cases: readonly (readonly [string, readonly Reviewer[], ToolCall, string | undefined])[] = [
    ['pass leaves it as planned', [pass], write('a'), 'approval_unavailable'],
    ['allow spares the question of the mode', [allow], write('a'), undefined],
    ['allow never lifts what the tool requires', [allow], guarded('a'), 'approval_unavailable'],
    ['ask asks', [ask], look('a'), 'approval_unavailable'],
    ['allow does not take back what another asked', [ask, allow], look('a'), 'approval_unavailable'],
    [
      'change does not take back what another asked',
      [ask, change({ x: 1 })],
      look('a'),
      'approval_unavailable',
    ],
    ['change is asked for again', [allow, change({ path: 'b' })], write('a'), 'approval_unavailable'],
    ['change and allow', [change({ path: 'b' }), allow], write('a'), undefined],
    ['deny', [allow, deny], write('a'), 'policy_denied'],
    ['nothing after a denial', [deny, () => fail(new Error('asked after all'))], write('a'), 'policy_denied'],
    ['change into arguments that do not fit', [change({ path: 1 })], write('a'), 'bad_args'],
    ['change into no arguments at all', [change(null)], write('a'), 'bad_args'],
    ['change out of the sandbox', [change({ path: '../x' }), allow], write('a'), 'sandbox_violation'],
    ['a throw', [() => fail(new Error('guard broken'))], look('a'), 'policy_denied'],
    ['no verdict', [() => undefined as never], look('a'), 'policy_denied'],
    ['an unknown verdict', [() => ({ kind: 'fine' }) as never], look('a'), 'policy_denied'],
    [
      'a verdict that throws',
      [() => Object.defineProperty({}, 'kind', { get: () => fail(new Error('x')) }) as never],
      look('a'),
      'policy_denied',
    ],
  ];

  it.each(cases)('%s', async (_what, reviewers, call, code) => {
    const { executor } = setup({ reviewers });
    const [result] = await executor.run([call]);
    expect(result?.error?.code).toBe(code);
    expect(result?.error?.message ?? '').not.toContain('\u001b');
  });

  it('sees what the one before it left, and runs what the last one left', async () => {
    const seen: unknown[] = [];
    const watch: Reviewer = ({ args, disposition }) => {
      seen.push([args, disposition]);
      return { kind: 'pass' };
    };
    const { order, executor } = setup({ reviewers: [watch, change({ path: 'new' }), allow, watch] });
    await executor.run([write('a')]);
    expect(seen).toEqual([
      [{ path: 'a.txt' }, 'requires_confirmation'],
      [{ path: 'new' }, 'execute_now'],
    ]);
    expect(order).toEqual(['write new ']);
  });

  it('is not asked about a call that is refused already', async () => {
    let asked = 0;
    const reviewer: Reviewer = () => {
      asked++;
      return { kind: 'allow' };
    };
    const { executor } = setup({ reviewers: [reviewer] });
    await executor.run([write('a', { path: '../x' }), { id: 'b', name: 'ghost', args: {} }]);
    expect(asked).toBe(0);
  });

  it('cannot hold a batch that is cancelled', async () => {
    const { order, executor } = setup({ reviewers: [() => new Promise(() => {})] });
    const run = executor.start([look('a')]);
    setTimeout(() => run.cancel(), 20);
    expect(codes(await run.results)).toEqual(['cancelled']);
    expect(order).toEqual([]);
  });
});

function fail(error: unknown): never {
  throw error;
}

function tryTo(action: () => unknown): void {
  try {
    action();
  } catch {
    // The arguments are frozen, so the change has no effect.
  }
}
