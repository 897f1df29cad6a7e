import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ApprovalRequest, PlannedCall } from '../../src/contract/approval.js';
import type { Effect, Risk } from '../../src/contract/effect.js';
import { builtinTools } from '../../src/executor/builtin-tools.js';
import { defineTool } from '../../src/executor/declare/define-tool.js';
import type { ExecutorOptions } from '../../src/executor/executor-options.js';
import { executorOf, folder } from '../../src/executor/fixtures/plan-fixture.js';
import { whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();

/** One call of `bash` (or another tool), as planned and as shown to a person. */
async function planned(
  args: object | string,
  options: ExecutorOptions = {},
  name = 'bash',
): Promise<Pick<PlannedCall, 'risk' | 'containment'>> {
  const asked: ApprovalRequest[] = [];
  const executor = executorOf([...builtinTools()], {
    policy: { mode: 'prompt', denylist: [] },
    ...options,
    approver: (requests) => {
      asked.push(...requests);
      return { kind: 'deny_all' };
    },
  });
  const call = { id: 'c', name, args: typeof args === 'string' ? { command: args } : args } as never;
  const [plan] = (await executor.plan([call])).calls;
  if (plan === undefined) throw new Error('there is no plan');
  await executor.run([call]);
  const { risk, containment } = plan;
  for (const request of asked) expect([request.risk, request.containment]).toEqual([risk, containment]);
  return { risk, containment };
}

const CONTAINED = { transaction: true, network: false, undo: true };
const WHO = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
const THROUGH = [{ decision: 'allow', command: 'ls', write_through: true }] as const;
const OPEN = { transaction: false, network: true, undo: false };

function run(command: string): Effect {
  return { kind: 'run', command, shell: 'bash' };
}

describe.skipIf(WHY_NOT !== '')(`the risk of a contained command${WHY_NOT}`, () => {
  it.each(['ls -la', 'cat a.txt', 'echo hi', 'pwd && grep -n x a.txt'])(
    'is low if it only reads: %s',
    async (text) => {
      expect(await planned(text)).toEqual({ risk: 'low', containment: CONTAINED });
    },
  );

  it.each([
    'touch a.txt',
    'rm -rf build',
    'npm test',
    'pwd && npm test',
    'echo hi > a.txt',
    '$X',
    'python3 -c "print(1)"',
  ])('is medium if it may change something: %s', async (text) => {
    expect(await planned(text)).toEqual({ risk: 'medium', containment: CONTAINED });
  });

  it('depends on the journal: without one, nothing can be undone', async () => {
    expect(await planned('touch a', { journal: false })).toEqual({
      risk: 'medium',
      containment: { ...CONTAINED, undo: false },
    });
  });

  it.each<[string, object | string, ExecutorOptions, object]>([
    ['with the network on', 'ls', { sandbox: { network: true } }, { ...CONTAINED, network: true }],
    ['without transactions', 'ls', { sandbox: { transactions: 'off' } }, { ...OPEN, network: false }],
    ['without the sandbox', 'ls', { sandbox: { os: 'off' } }, OPEN],
    ['in the background', { command: 'ls', run_in_background: true }, {}, { ...OPEN, network: false }],
    ['written through by a rule', 'ls', { policy: { rules: THROUGH } }, { ...OPEN, network: false }],
  ])('is high %s', async (_, args, options, containment) => {
    expect(await planned(args, options)).toEqual({ risk: 'high', containment });
  });

  it.each<[string, readonly Effect[], Partial<typeof CONTAINED>]>([
    ['alone', [], {}],
    ['a read', [{ kind: 'read', path: 'a' }], {}],
    ['a fetch', [{ kind: 'fetch', url: 'https://a.example/' }], { network: true, undo: false }],
    ['a write', [{ kind: 'write', path: 'a' }], { undo: false }],
  ])('includes the effects of a tool besides its command: %s', async (_, beside, changed) => {
    const both = defineTool({
      name: 'both',
      description: 'd',
      input: { type: 'object' },
      background: false,
      effects: () => [{ kind: 'run', command: 'ls', shell: 'bash' }, ...beside],
      execute: () => 'x',
    });
    const executor = executorOf([both], { policy: { mode: 'auto' } });
    const { calls } = await executor.plan([{ id: 'c', name: 'both', args: {} }]);
    expect(calls[0]).toMatchObject({ containment: { ...CONTAINED, ...changed } });
  });

  it.each<[string, Risk | undefined, readonly Effect[], Risk]>([
    ['commands that only read', undefined, [run('ls'), { kind: 'read', path: 'a' }], 'low'],
    ['a command that may write, after one that reads', undefined, [run('ls'), run('touch a')], 'medium'],
    ['a command and a write of its own code', undefined, [run('ls'), { kind: 'write', path: 'a' }], 'medium'],
    ['a risk that the tool states as low', 'low', [run('touch a')], 'low'],
  ])('is that of all its effects: %s', async (_, stated, effects, risk) => {
    const tool = defineTool({
      name: 'runner',
      description: 'd',
      input: { type: 'object' },
      background: false,
      ...(stated === undefined ? {} : { risk: stated }),
      effects: () => effects,
      execute: () => 'x',
    });
    const { calls } = await executorOf([tool], { policy: { mode: 'auto' } }).plan([
      { id: 'c', name: 'runner', args: {} },
    ]);
    expect(calls[0]).toMatchObject({ risk, containment: { transaction: true } });
  });

  it('never runs outside a transaction if a person approved it inside one', async () => {
    const [root, elsewhere] = [folder(), folder()];
    const executor = executorOf([...builtinTools()], {
      root,
      approver: async ([request]) => {
        expect(request?.containment).toEqual(CONTAINED);
        // When the command starts, the root is a working tree of a repository outside it, so no transaction is
        // possible.
        const git = (...words: string[]) => execFileSync('git', ['-C', elsewhere, ...WHO, ...words]);
        git('init', '-q');
        git('commit', '-q', '--allow-empty', '-m', 'first');
        git('worktree', 'add', '-q', root);
        return { kind: 'approve_all' };
      },
    });
    const { error } = await executor.execute('bash', { command: 'touch made' });
    expect(error).toMatchObject({ code: 'sandbox_violation', details: { reason: 'TransactionUnavailable' } });
    expect(existsSync(join(root, 'made'))).toBe(false);
  });
});

describe('the containment of other calls', () => {
  it('of file tools: changes that the journal keeps can be undone', async () => {
    const write = { path: 'a', content: 'x' };
    const undone = { transaction: false, network: false, undo: true };
    expect(await planned(write, {}, 'write_file')).toEqual({ risk: 'medium', containment: undone });
    const { containment } = await planned(write, { journal: false }, 'write_file');
    expect(containment).toEqual({ ...undone, undo: false });
  });

  it.each<[string, readonly Effect[], boolean, boolean]>([
    [
      'a read and a deletion',
      [
        { kind: 'read', path: 'a' },
        { kind: 'delete', path: 'b' },
      ],
      true,
      true,
    ],
    ['a write without a preview of it', [{ kind: 'write', path: 'a' }], false, false],
    [
      'a write and a fetch',
      [
        { kind: 'write', path: 'a' },
        { kind: 'fetch', url: 'https://a.example/' },
      ],
      true,
      false,
    ],
    ['only a fetch', [{ kind: 'fetch', url: 'https://a.example/' }], true, false],
  ])(
    'of other tools: only changes of files that are previewed can be undone: %s',
    async (_, effects, previews, undo) => {
      const tool = defineTool({
        name: 'other',
        description: 'd',
        input: { type: 'object' },
        effects: () => effects,
        ...(previews ? { previewChanges: () => [] } : {}),
        execute: () => 'x',
      });
      const { calls } = await executorOf([tool], { policy: { mode: 'auto' } }).plan([
        { id: 'c', name: 'other', args: {} },
      ]);
      expect(calls[0]).toMatchObject({ containment: { transaction: false, undo } });
    },
  );

  it('of reads: nothing is changed, so nothing is undone', async () => {
    expect(await planned({ path: '.' }, {}, 'list_directory')).toEqual({
      risk: 'low',
      containment: { transaction: false, network: false, undo: false },
    });
  });

  it('of a tool without declared effects: anything may happen', async () => {
    const executor = executorOf([
      defineTool({ name: 'any', description: 'd', input: { type: 'object' }, execute: () => 'x' }),
    ]);
    const { calls } = await executor.plan([{ id: 'c', name: 'any', args: {} }]);
    expect(calls[0]).toMatchObject({ risk: 'high', containment: OPEN });
  });
});
