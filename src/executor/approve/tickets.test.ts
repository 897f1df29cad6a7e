import { appendFileSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalDecision, Reviewer } from '../../contract/approval.js';
import type { Executor } from '../../contract/executor.js';
import { openJournal } from '../../journal/open-journal.js';
import { createExecutor } from '../create-executor.js';
import { defineTool } from '../declare/define-tool.js';
import type { ExecutorOptions } from '../executor-options.js';
import { folder } from '../fixtures/plan-fixture.js';

let root: string;
let ledger: string;

beforeEach(() => {
  root = folder();
  ledger = join(folder(), 'ledger');
  writeFileSync(ledger, '');
});

const paid = (): string[] => readFileSync(ledger, 'utf8').split('\n').slice(0, -1);

/** For the journal, every executor is another process: each opens the file separately. */
function executor(options: ExecutorOptions = {}): Executor {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: { to: { type: 'string' } } },
    requiresApproval: ({ to }) => to !== 'friend',
    effects: () => [{ kind: 'fetch', url: 'https://bank.example' }],
    execute: ({ to }, { callId }) => {
      appendFileSync(ledger, `${callId} ${String(to)}\n`);
      return `paid ${String(to)}`;
    },
  });
  const save = defineTool({
    name: 'save',
    description: 'Saves.',
    input: { type: 'object', properties: { path: { type: 'string' } } },
    requiresApproval: true,
    effects: ({ path }) => [{ kind: 'write', path: String(path) }],
    execute: async ({ path }, { files }) => {
      await files.write(String(path), Buffer.from('saved'), { mode: 'overwrite' });
      return 'saved';
    },
  });
  const journal = join(root, '..', `${root.split('/').at(-1)}.db`);
  return createExecutor({ tools: [pay, save], root, policy: null, journal, ...options });
}

const CALL = { id: 'a', name: 'pay', args: { to: 'ada' } };
const HERE = { conversation: 'c1' };
const approved = { kind: 'approve_all', by: 'ada@example.org' } as const;
const EDITS_IN_A_MAP = { kind: 'approve_selected', ids: ['a'], edits: new Map([['a', { to: 'bob' }]]) };

describe('ask() and its ticket', () => {
  it('ask, decide and run in three processes: the call runs once, and a second run has the recorded answer', async () => {
    let ticket = '';
    {
      await using first = executor();
      const asked = await first.ask(CALL, HERE);
      expect(asked).toMatchObject({
        needed: true,
        request: { callId: 'a', toolName: 'pay', args: { to: 'ada' } },
      });
      expect(asked.ticket.length).toBeLessThanOrEqual(200);
      ticket = asked.ticket;
    }
    {
      await using second = executor();
      await second.decide(ticket, approved);
      expect(await second.waiting()).toEqual([]);
    }
    await using third = executor();
    expect(await third.recover()).toMatchObject([{ waits: true }]);
    const [result] = await third.run([CALL], { ...HERE, ticket });
    expect(result).toMatchObject({ success: true, output: 'paid ada' });
    const [again] = await third.run([CALL], { ...HERE, ticket });
    expect(again).toMatchObject({ success: true, output: 'paid ada', metadata: { replayed: true } });
    expect(paid()).toEqual(['a ada']);
  });

  it('runs nothing without a decision, and nothing that was denied', async () => {
    await using one = executor({ approver: () => approved });
    const { ticket } = await one.ask(CALL, HERE);
    expect(await one.run([CALL], { ...HERE, ticket })).toMatchObject([
      { success: false, error: { code: 'approval_unavailable', details: { executed: 'no' } } },
    ]);
    await one.decide(ticket, { kind: 'deny_all', reason: 'too dear' });
    for (let turn = 0; turn < 2; turn++) {
      const [result] = await one.run([CALL], { ...HERE, ticket });
      expect(result?.error).toMatchObject({ code: 'user_denied', details: { executed: 'no' } });
      expect(result?.error?.message).toContain('too dear');
    }
    expect(paid()).toEqual([]);
  });

  it('asks the approver at once where the caller wants that, and gives its decision', async () => {
    const decisions: ApprovalDecision[] = [approved, { kind: 'deny_all', reason: 'too dear' }];
    const seen: string[] = [];
    await using one = executor({
      approver: ([request]) => {
        seen.push(request?.summary ?? '');
        const decision = decisions.shift();
        if (decision === undefined) throw new Error('the approver is gone');
        return decision;
      },
    });
    const at = { ...HERE, askApprover: true };
    const first = await one.ask(CALL, at);
    expect([first.needed, first.denied]).toEqual([false, undefined]);
    expect(await one.run([CALL], { ...HERE, ticket: first.ticket })).toMatchObject([{ output: 'paid ada' }]);
    const second = { ...CALL, id: 'b' };
    for (let turn = 0; turn < 2; turn++)
      expect(await one.ask(second, at)).toMatchObject({ needed: false, denied: true });
    const third = await one.ask({ ...CALL, id: 'c' }, at);
    expect(third).toMatchObject({ needed: true, request: { callId: 'c' } });
    expect(seen).toHaveLength(3);
    expect(paid()).toEqual(['a ada']);
  });

  it.each([
    ['other arguments', { ...CALL, args: { to: 'eve' } }, 'c1'],
    ['another call', { ...CALL, id: 'b' }, 'c1'],
    ['another tool', { ...CALL, name: 'save' }, 'c1'],
    ['another conversation', CALL, 'c2'],
    ['arguments that are no object', { ...CALL, args: 'ada' }, 'c1'],
  ])('an approved ticket runs nothing for %s', async (_, call, conversation) => {
    await using one = executor({ approver: () => approved });
    const { ticket } = await one.ask(CALL, HERE);
    await one.decide(ticket, approved);
    const [result] = await one.run([call], { conversation, ticket });
    expect(result).toMatchObject({ success: false, error: { code: 'approval_unavailable' } });
    const [used] = await one.run([CALL], { ...HERE, ticket });
    expect(used).toMatchObject({ success: true });
    expect(await one.run([call], { conversation, ticket })).toMatchObject([
      { error: { code: 'approval_unavailable' } },
    ]);
    expect(paid()).toEqual(['a ada']);
  });

  it('a question that no approver answers stays open if the executor is closed', async () => {
    let reason: unknown;
    const one = executor({
      approver: (_, { signal }) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
        });
        void one.close();
        return new Promise(() => {});
      },
    });
    const asked = await one.ask(CALL, { ...HERE, askApprover: true });
    expect(asked).toMatchObject({ needed: true, request: { callId: 'a' } });
    expect(reason).toMatchObject({ message: 'Cancelled: the executor was closed' });
    await one.close();
    await using other = executor();
    await other.decide(asked.ticket, approved);
    expect(await other.run([CALL], { ...HERE, ticket: asked.ticket })).toMatchObject([{ success: true }]);
  });

  it('approves nothing beside its one call', async () => {
    await using one = executor();
    const { ticket } = await one.ask(CALL, HERE);
    await one.decide(ticket, approved);
    const results = await one.run([CALL, { ...CALL, id: 'b' }], { ...HERE, ticket });
    expect(results.map(({ error }) => error?.code)).toEqual(['approval_unavailable', 'approval_unavailable']);
    expect(paid()).toEqual([]);
  });

  it('a forged ticket is unknown to decide(), and runs nothing', async () => {
    await using one = executor({ approver: () => approved });
    const { ticket } = await one.ask(CALL, HERE);
    const forged = `${ticket.slice(0, -1)}${ticket.endsWith('A') ? 'B' : 'A'}`;
    const batch = (await one.waiting())[0]?.batchId ?? '';
    for (const text of [forged, 'nonsense', '', batch, `ticket_${batch}_${'x'.repeat(22)}`]) {
      await expect(one.decide(text, approved)).rejects.toMatchObject({ code: 'unknown_batch' });
      if (text === '') continue;
      const [result] = await one.run([CALL], { ...HERE, ticket: text });
      expect(result).toMatchObject({ error: { code: 'approval_unavailable' } });
    }
    expect(paid()).toEqual([]);
  });

  it('decides once: of ten decisions at once one counts', async () => {
    await using one = executor();
    const { ticket } = await one.ask(CALL, HERE);
    const tried = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => one.decide(ticket, n % 2 === 0 ? { kind: 'deny_all' } : approved)),
    );
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const each of tried)
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'already_decided' });
    await expect(one.decide(ticket, approved)).rejects.toMatchObject({ code: 'already_decided' });
    await expect(one.decide(ticket, { kind: 'maybe' } as never)).rejects.toMatchObject({
      code: 'already_decided',
    });
  });

  it('refuses an invalid decision, and keeps waiting', async () => {
    await using one = executor();
    const { ticket } = await one.ask(CALL, HERE);
    for (const none of [
      { kind: 'maybe' },
      null,
      { kind: 'approve_selected' },
      7,
      { ...approved, by: 7 },
      EDITS_IN_A_MAP,
    ]) {
      await expect(one.decide(ticket, none as never)).rejects.toMatchObject({ code: 'bad_args' });
    }
    await one.decide(ticket, approved);
    expect(await one.run([CALL], { ...HERE, ticket })).toMatchObject([{ success: true }]);
  });

  it('a call that needs no approval has a ticket too, which runs it once and no other', async () => {
    await using one = executor();
    const call = { ...CALL, args: { to: 'friend' } };
    const { needed, request, ticket } = await one.ask(call, HERE);
    expect([needed, request]).toEqual([false, undefined]);
    expect(await one.run([{ ...call, id: 'b' }], { ...HERE, ticket })).toMatchObject([
      { error: { code: 'approval_unavailable' } },
    ]);
    await expect(one.decide(ticket, { kind: 'deny_all' })).rejects.toMatchObject({ code: 'already_decided' });
    for (let turn = 0; turn < 2; turn++) {
      expect(await one.run([call], { ...HERE, ticket })).toMatchObject([{ output: 'paid friend' }]);
    }
    expect(paid()).toEqual(['a friend']);
  });

  it('a ticket that needed no approval runs nothing under a policy that asks', async () => {
    await using lax = executor();
    const call = { ...CALL, args: { to: 'friend' } };
    const { ticket } = await lax.ask(call, HERE);
    await using strict = executor({ policy: { mode: 'prompt', allowlist: [] }, approver: () => approved });
    expect(await strict.run([call], { ...HERE, ticket })).toMatchObject([
      { error: { code: 'approval_unavailable' } },
    ]);
    expect(paid()).toEqual([]);
  });

  it('asked again, the same call has the same ticket, and says when it is decided', async () => {
    await using one = executor();
    const { ticket } = await one.ask(CALL, HERE);
    expect(await one.ask(CALL, HERE)).toMatchObject({ needed: true, ticket });
    await one.decide(ticket, approved);
    await using other = executor();
    expect(await other.ask(CALL, HERE)).toEqual({ needed: false, ticket });
  });

  it('binds the contents that were shown: a changed file is asked about again, with another ticket', async () => {
    await using one = executor();
    writeFileSync(join(root, 'note'), 'one');
    const call = { id: 's', name: 'save', args: { path: 'note' } };
    const { ticket } = await one.ask(call, HERE);
    await one.decide(ticket, approved);
    writeFileSync(join(root, 'note'), 'two');
    const [refused] = await one.run([call], { ...HERE, ticket });
    expect(refused?.error).toMatchObject({
      code: 'approval_unavailable',
      details: { changed: [join(root, 'note')] },
      hint: expect.stringMatching(
        /^Changed since the call was shown: .*note\. Decide with .*executor\.decide/,
      ),
    });
    expect(readFileSync(join(root, 'note'), 'utf8')).toBe('two');
    // The call keeps waiting for a person who sees the new content.
    const [waits] = await one.waiting();
    const again = await one.ask(call, HERE);
    expect(waits?.ticket).toBe(again.ticket);
    expect(again).toMatchObject({ needed: true, request: { changed: [join(root, 'note')] } });
    expect(again.ticket).not.toBe(ticket);
    expect(await one.run([call], { ...HERE, ticket })).toMatchObject([
      { error: { code: 'approval_unavailable' } },
    ]);
    await expect(one.decide(ticket, approved)).rejects.toMatchObject({ code: 'already_decided' });
    await one.decide(again.ticket, approved);
    expect(await one.run([call], { ...HERE, ticket: again.ticket })).toMatchObject([{ output: 'saved' }]);
    expect(readFileSync(join(root, 'note'), 'utf8')).toBe('saved');
  });

  it('a value that is not a call is answered bad_args, even with a ticket', async () => {
    await using one = executor();
    for (const value of [null, 5]) {
      const { needed, ticket } = await one.ask(value as never, HERE);
      expect(needed).toBe(false);
      expect(await one.run([value as never], { ...HERE, ticket })).toMatchObject([
        { error: { code: 'bad_args' } },
      ]);
    }
  });

  it('binds the resolved path: a link that leads elsewhere by then runs nothing', async () => {
    await using one = executor();
    for (const name of ['a', 'b']) writeFileSync(join(root, name), name);
    symlinkSync('a', join(root, 'link'));
    const call = { id: 's', name: 'save', args: { path: 'link' } };
    const { ticket } = await one.ask(call, HERE);
    await one.decide(ticket, approved);
    unlinkSync(join(root, 'link'));
    symlinkSync('b', join(root, 'link'));
    expect(await one.run([call], { ...HERE, ticket })).toMatchObject([
      { error: { code: 'approval_unavailable' } },
    ]);
    expect(readFileSync(join(root, 'b'), 'utf8')).toBe('b');
  });

  it('runs the arguments that the person put in place of the model’s', async () => {
    await using one = executor();
    const { ticket } = await one.ask(CALL, HERE);
    await one.decide(ticket, { kind: 'approve_selected', ids: ['a'], edits: { a: { to: 'bob' } } });
    expect(await one.run([CALL], { ...HERE, ticket })).toMatchObject([{ output: 'paid bob' }]);
  });

  it('runs a call whose arguments a reviewer changes, and still no other (it was never run)', async () => {
    const reviewers: Reviewer[] = [
      ({ args }) => (args.to === 'bob' ? { kind: 'change', args: { to: 'ada' } } : { kind: 'pass' }),
    ];
    await using one = executor({ reviewers });
    const call = { ...CALL, args: { to: 'bob' } };
    const { request, ticket } = await one.ask(call, HERE);
    expect(request?.args).toEqual({ to: 'ada' });
    await one.decide(ticket, approved);
    const other = { ...CALL, args: { to: 'eve' } };
    expect(await one.run([other], { ...HERE, ticket })).toMatchObject([
      { error: { code: 'approval_unavailable' } },
    ]);
    expect(await one.run([call], { conversation: 'c2', ticket })).toMatchObject([
      { error: { code: 'approval_unavailable' } },
    ]);
    for (let turn = 0; turn < 2; turn++)
      expect(await one.run([call], { ...HERE, ticket })).toMatchObject([{ output: 'paid ada' }]);
    expect(paid()).toEqual(['a ada']);
  });

  it('one ticket run ten times at once by two executors has one effect and one answer', async () => {
    await using one = executor();
    await using two = executor();
    const { ticket } = await one.ask(CALL, HERE);
    await two.decide(ticket, approved);
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? one : two).run([CALL], { ...HERE, ticket })),
    );
    expect(new Set(all.map(([result]) => result?.output))).toEqual(new Set(['paid ada']));
    expect(paid()).toEqual(['a ada']);
  });

  it('a call keeps its place while its ticket is read: no later call that conflicts overtakes it (each one did)', async () => {
    const enter = defineTool({
      name: 'enter',
      description: 'Enters.',
      input: { type: 'object', properties: { asks: { type: 'boolean' } } },
      requiresApproval: ({ asks }) => asks === true,
      effects: () => [{ kind: 'write', path: 'book' }],
      execute: (_, { callId }) => {
        appendFileSync(ledger, `${callId}\n`);
        return 'entered';
      },
    });
    await using one = executor({ tools: [enter] });
    const call = (id: string, asks: boolean) => ({ id, name: 'enter', args: { asks } });
    const [asked, unasked, plain] = [call('a', true), call('b', false), call('c', false)];
    const first = await one.ask(asked, HERE);
    const second = await one.ask(unasked, HERE);
    await one.decide(first.ticket, approved);
    await Promise.all([
      one.run([asked], { ...HERE, ticket: first.ticket }),
      one.run([unasked], { ...HERE, ticket: second.ticket }),
      one.run([plain], HERE),
    ]);
    expect(paid()).toEqual(['a', 'b', 'c']);
  });

  it('gives the events of its run, and those of a refusal', async () => {
    await using one = executor();
    const { ticket } = await one.ask(CALL, HERE);
    await one.decide(ticket, approved);
    const typesOf = async (conversation: string): Promise<string[]> => {
      const types: string[] = [];
      for await (const { type } of one.start([CALL], { conversation, ticket }).events) types.push(type);
      return types;
    };
    expect(await typesOf('c2')).toEqual(['planned', 'completed']);
    expect(await typesOf('c1')).toEqual([
      'planned',
      'approval_requested',
      'approval_decided',
      'started',
      'completed',
    ]);
  });

  it('a call without its ticket stays unrun, and one that ran before is not asked about again', async () => {
    await using one = executor({ approver: () => approved });
    const { ticket } = await one.ask(CALL, HERE);
    await one.decide(ticket, approved);
    expect(await one.run([CALL], HERE)).toMatchObject([{ error: { code: 'approval_unavailable' } }]);
    await one.run([CALL], { ...HERE, ticket });
    const after = await one.ask(CALL, HERE);
    expect(after.needed).toBe(false);
    expect(await one.run([CALL], { ...HERE, ticket: after.ticket })).toMatchObject([
      { output: 'paid ada', metadata: { replayed: true } },
    ]);
    expect(paid()).toEqual(['a ada']);
  });

  it('an id that was used with other arguments is refused, whatever was asked', async () => {
    await using one = executor();
    const { ticket } = await one.ask(CALL, HERE);
    await one.decide(ticket, approved);
    await one.run([CALL], { ...HERE, ticket });
    const other = { ...CALL, args: { to: 'eve' } };
    const asked = await one.ask(other, HERE);
    expect(await one.run([other], { ...HERE, ticket: asked.ticket })).toMatchObject([
      { success: false, error: { code: 'duplicate_tool_call_id' } },
    ]);
    expect(paid()).toEqual(['a ada']);
  });

  it('a refused call needs no decision: its run says why', async () => {
    await using one = executor();
    const bad = { id: 'x', name: 'pay', args: null as unknown };
    const { needed, ticket } = await one.ask(bad, HERE);
    expect(needed).toBe(false);
    expect(await one.run([bad], { ...HERE, ticket })).toMatchObject([{ error: { code: 'bad_args' } }]);
  });

  it('refuses options that name another way to approval, and a question without a conversation', async () => {
    await using one = executor();
    const { ticket } = await one.ask(CALL, HERE);
    for (const more of [{ approver: null }, { defer: true }, { again: true }, { dryRun: true }]) {
      await expect(one.run([CALL], { ...HERE, ticket, ...more })).rejects.toMatchObject({
        code: 'config_invalid',
      });
    }
    await expect(one.ask(CALL, {} as never)).rejects.toMatchObject({ code: 'config_invalid' });
    await expect(executor({ journal: false }).ask(CALL, HERE)).rejects.toMatchObject({
      code: 'journal_unavailable',
    });
  });

  it('lists an open question with its ticket; approve() leaves it to the program that asked', async () => {
    await using one = executor();
    const { ticket } = await one.ask(CALL, HERE);
    const [waiting] = await one.waiting(HERE);
    expect(waiting).toMatchObject({ ticket, requests: [{ callId: 'a' }] });
    await expect(one.approve(waiting?.batchId ?? '')).rejects.toMatchObject({ code: 'bad_args' });
    await one.decide(waiting?.batchId ?? '', 'discard');
    expect(await one.run([CALL], { ...HERE, ticket })).toMatchObject([{ error: { code: 'cancelled' } }]);
    expect(paid()).toEqual([]);
  });

  it('works where the journal leaves the arguments out', async () => {
    const file = join(folder(), 'redacted.db');
    const journal = openJournal(file, { redactArguments: ['pay/to'] });
    await using one = executor({ journal });
    const { ticket } = await one.ask(CALL, HERE);
    await one.decide(ticket, approved);
    expect(await one.run([CALL], { ...HERE, ticket })).toMatchObject([{ output: 'paid ada' }]);
    await journal.close();
  });
});

describe('definitions()', () => {
  it('gives values that the caller may change, and changes nothing by that', async () => {
    await using one = executor();
    const [first] = one.definitions();
    Object.assign(first as object, { __absolute_uri__: 'x' });
    Object.assign(first?.inputSchema as object, { $id: 'y' });
    expect(one.definitions()[0]).not.toHaveProperty('__absolute_uri__');
    expect(one.definitions()[0]?.inputSchema).not.toHaveProperty('$id');
  });
});
