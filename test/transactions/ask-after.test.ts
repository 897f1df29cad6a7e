import { beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalDecision, ApprovalRequest } from '../../src/contract/approval.js';
import type { Executor } from '../../src/contract/executor.js';
import { builtinTools } from '../../src/executor/builtin-tools.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import type { ExecutorOptions } from '../../src/executor/executor-options.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { whyNoTransactions } from './kept-apart.js';
import { usePlace } from './use-place.js';

const WHY_NOT = await whyNoTransactions();

const place = usePlace();
const { outside } = place;
let asked: ApprovalRequest[];
let decision: ApprovalDecision;
/** The content of the root during the question. */
let seen: string;
beforeEach(() => {
  asked = [];
  seen = '';
  decision = { kind: 'approve_all' };
});

function open(more: ExecutorOptions = {}): Executor {
  return createExecutor({
    root: place.root,
    tools: builtinTools({ bash: { approval: 'after' } }),
    journal: place.journal,
    async approver(requests) {
      asked.push(...requests);
      seen = outside('ls');
      return decision;
    },
    ...more,
    sandbox: { os: 'required', ...more.sandbox },
  });
}

const bash = (command: string, more: Readonly<Record<string, number | boolean>> = {}) => ({
  id: 'c1',
  name: 'bash',
  args: { command, ...more },
});

describe.skipIf(WHY_NOT !== '')(`approval "after"${WHY_NOT}`, () => {
  it('asks when the command has ended, and shows its changes before they are committed', async () => {
    await using executor = open();
    const [result] = await executor.run([bash('echo x >new; echo done')]);
    expect(result).toMatchObject({ output: 'done\n', metadata: { changes: { created: ['new'] } } });
    expect(seen).toBe('');
    expect(asked).toMatchObject([
      {
        callId: 'c1',
        changes: { created: ['new'], modified: [], deleted: [], refused: [], conflicts: [] },
        parts: [
          { kind: 'command' },
          { kind: 'changes', entries: [{ path: 'new', change: 'create', after: { kind: 'file', size: 2 } }] },
          { kind: 'file', path: 'new', text: 'x\n' },
        ],
      },
    ]);
    expect(outside('ls')).toBe('new\n');
  });

  it('bug: a file that an editor saved unchanged during the question counted as changed', async () => {
    outside('echo old >old');
    await using executor = open({
      async approver(requests) {
        asked.push(...requests);
        outside('cp old t; mv t old');
        return decision;
      },
    });
    // Neither its words nor a look while it runs say what it changes.
    const code = Buffer.from('echo mine >old').toString('base64');
    const [result] = await executor.run([bash(`sleep 0.4; eval "$(echo ${code} | base64 -d)"`)]);
    expect([result?.error, asked.length, outside('cat old')]).toEqual([undefined, 1, 'mine\n']);
  });

  it('asks about removed files while they still exist', async () => {
    outside('mkdir old && echo x > old/a');
    decision = { kind: 'deny_all' };
    await using executor = open();
    const [result] = await executor.run([bash('rm -rf old')]);
    expect(result?.error?.code).toBe('user_denied');
    expect(asked).toMatchObject([{ changes: { deleted: ['old/', 'old/a'] } }]);
    expect(outside('cat old/a')).toBe('x\n');
  });

  eachOf<[string, object | undefined]>(
    [
      ['edits in a Map', { kind: 'approve_selected', ids: ['c1'], edits: new Map([['c1', {}]]) }],
      ['paths that are no list', { kind: 'approve_selected', ids: ['c1'], paths: { c1: 'new' } }],
      ['nothing', undefined],
    ],
    1,
  )('keeps nothing if the decision is %s', async (_, given) => {
    decision = given as ApprovalDecision;
    await using executor = open();
    const [result] = await executor.run([bash('echo x >new')]);
    expect(result?.error).toMatchObject({ code: 'approval_unavailable', details: { executed: 'no' } });
    expect(result?.error?.message).toMatch(/approver(?: gave no decision|'s decision cannot be read)/);
    expect(outside('ls')).toBe('');
  });

  it('keeps no change if the ids of the decision are a text instead of a list', async () => {
    decision = { kind: 'approve_selected', ids: 'c1, c2' } as never;
    await using executor = open();
    const [result] = await executor.run([bash('echo x >new')]);
    expect([result?.error?.code, outside('ls')]).toEqual(['approval_unavailable', '']);
  });

  it('does not ask if nothing was changed', async () => {
    const tools = builtinTools({ bash: { approval: 'after' } });
    // The option alone requires the sandbox.
    await using executor = createExecutor({ root: place.root, tools });
    await using other = open({ journal: false });
    expect((await other.run([bash('echo nothing')]))[0]?.output).toBe('nothing\n');
    expect(asked).toEqual([]);
    // Without a person this is a success too, and a change is not.
    expect((await executor.run([bash('echo nothing')]))[0]?.output).toBe('nothing\n');
    expect((await executor.run([{ ...bash('echo x >new'), id: 'c2' }]))[0]?.error).toMatchObject({
      code: 'approval_unavailable',
      details: { executed: 'no' },
    });
    expect(outside('ls')).toBe('');
  });

  it('drops refused changes, and tells the model', async () => {
    decision = { kind: 'deny_all', reason: 'not that file' };
    await using executor = open();
    const [result] = await executor.run([bash('echo x >new; echo done')]);
    expect(result).toMatchObject({
      success: false,
      error: {
        code: 'user_denied',
        details: { executed: 'no' },
        message: expect.stringContaining('its changes were refused: not that file'),
      },
    });
    expect(result?.output).toContain('The changes of this command were not kept');
    expect(outside('ls')).toBe('');
  });

  it('does not count the time of the person against the timeout of the command', {
    tags: ['soak'],
  }, async () => {
    await using executor = open({
      async approver() {
        await new Promise((resolve) => setTimeout(resolve, 3100));
        return { kind: 'approve_all' };
      },
    });
    const [result] = await executor.run([bash('echo x >new', { timeout: 3000 })]);
    expect(result?.error).toBeUndefined();
    expect(outside('ls')).toBe('new\n');
  });

  it('asks before a command that a rule asks about, before background shells, and if the conditions are not met', {
    tags: ['soak'],
  }, async () => {
    decision = { kind: 'deny_all' };
    const askedBefore = async (more: ExecutorOptions, call = bash('touch new')): Promise<void> => {
      asked = [];
      await using executor = open({ journal: false, ...more });
      const [result] = await executor.run([call]);
      expect(result?.error?.code).toBe('user_denied');
      expect(asked[0]?.changes).toBeUndefined();
      expect(asked).toHaveLength(1);
    };
    await askedBefore({}, bash('touch new', { run_in_background: true }));
    await askedBefore({ policy: { rules: [{ decision: 'ask', tool: 'bash' }] } });
    await askedBefore({ sandbox: { network: true } });
    await askedBefore({ sandbox: { os: 'off' } });
    await askedBefore({ sandbox: { transactions: 'off' } });
    await askedBefore({ tools: builtinTools() });
    expect(outside('ls')).toBe('');
  });
});
