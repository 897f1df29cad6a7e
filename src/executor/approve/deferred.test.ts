import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalDecision, ApprovalRequest } from '../../contract/approval.js';
import { WAITING_ANSWER } from '../../contract/approval.js';
import type { Clock } from '../../contract/context.js';
import type { RunOptions } from '../../contract/executor.js';
import type { Journal } from '../../contract/journal.js';
import { openJournal } from '../../journal/open-journal.js';
import { systemClock } from '../../platform/clock/clock.js';
import { batchEntry, callEntry } from '../../testing/journal-entries.js';
import { createExecutor } from '../create-executor.js';
import { defineTool } from '../declare/define-tool.js';
import type { ExecutorOptions } from '../executor-options.js';

let folder: string;
let ledger: string;
let journal: Journal;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolexec-deferred-'));
  ledger = join(folder, 'ledger');
  writeFileSync(ledger, '');
  journal = openJournal(join(folder, 'journal.db'));
});

afterEach(async () => {
  await journal.close();
  rmSync(folder, { recursive: true });
});

const paid = (): string[] => readFileSync(ledger, 'utf8').split('\n').slice(0, -1);

function executor(options: ExecutorOptions = {}) {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: { to: { type: 'string' } } },
    requiresApproval: ({ to }) => to !== 'nobody',
    effects: () => [{ kind: 'fetch', url: 'https://bank.example' }],
    execute: ({ to }, { callId }) => {
      appendFileSync(ledger, `${callId} ${String(to)}\n`);
      return `paid ${String(to)}`;
    },
  });
  return createExecutor({ tools: [pay], root: folder, policy: null, journal, ...options });
}

const CALLS = [
  { id: 'a', name: 'pay', args: { to: 'ada' } },
  { id: 'b', name: 'pay', args: { to: 'nobody' } },
  { id: 'c', name: 'missing', args: {} },
  { id: 'd', name: 'pay', args: { to: 'dan' } },
];
const DEFER: RunOptions = { conversation: 'c1', defer: true };
/** All of this happens in one millisecond. */
const standing: Clock = { ...systemClock, now: () => Date.UTC(2026, 0, 1) };
const approveAll = () => ({ kind: 'approve_all', by: 'ada@example.org' }) as const;

async function deferred(): Promise<string> {
  await using first = executor();
  const run = first.start(CALLS, DEFER);
  await run.results;
  return run.id;
}

describe('a batch that is put off', () => {
  it('puts off only the calls that need approval, runs their siblings, and says what waits', async () => {
    await using first = executor({ approver: () => expect.fail('nobody is asked') });
    const run = first.start(CALLS, DEFER);
    const results = await run.results;
    expect(paid()).toEqual(['b nobody']);
    const pending = {
      success: false,
      error: { code: 'approval_unavailable', details: { executed: 'no' } },
      metadata: { pending: true, waits_for: run.id },
    };
    expect(results).toMatchObject([
      pending,
      { output: 'paid nobody' },
      { error: { code: 'unknown_tool' } },
      pending,
    ]);
    expect(results[0]?.error?.message).toBe(WAITING_ANSWER);
    expect(results[0]?.error?.hint).toContain(`toolexec approve ${run.id}`);
    expect((await journal.batch(run.id)).map(({ state }) => state)).toEqual([
      'queued',
      'done',
      'done',
      'queued',
    ]);
  });

  it('runs at once where nothing needs approval', async () => {
    await using first = executor();
    const [result] = await first.run([{ id: 'b', name: 'pay', args: { to: 'nobody' } }], DEFER);
    expect(result?.output).toBe('paid nobody');
  });

  it('outlives its process, is not taken for left behind, and blocks nothing', async () => {
    const id = await deferred();
    await using later = executor({ approver: null });
    expect(await later.recover()).toMatchObject([{ batchId: id, waits: true, waitsFor: 'approval' }]);
    const [other] = await later.run([{ id: 'x', name: 'pay', args: { to: 'eve' } }], { conversation: 'c1' });
    expect(other?.output).toBe('paid eve');
    const anew = { conversation: 'c1', again: true };
    const [again] = await later.run([{ id: 'y', name: 'pay', args: { to: 'eve' } }], anew);
    expect(again?.output).toBe('paid eve');
    // Delivered again, it still waits.
    expect(await later.run(CALLS, { conversation: 'c1' })).toMatchObject([
      { error: { code: 'approval_unavailable' }, metadata: { pending: true } },
      { output: 'paid nobody', metadata: { replayed: true } },
      { error: { code: 'unknown_tool' } },
      { metadata: { pending: true } },
    ]);
    expect(paid()).toEqual(['b nobody', 'x eve', 'y eve']);
  });
});

describe('executor.decide() about a batch that is put off', () => {
  it('discards it: if one process approves and another discards at the same time, only one succeeds', async () => {
    const id = await deferred();
    await using one = executor();
    await using other = executor();
    const approved = await one.approve(id, {
      approver: async () => {
        await other.decide(id, 'discard');
        return { kind: 'approve_all' };
      },
    });
    const answers = ['cancelled', undefined, 'unknown_tool', 'cancelled'];
    expect((await approved.results).map(({ error }) => error?.code)).toEqual(answers);
    expect(paid()).toEqual(['b nobody']);
    expect((await journal.batch(id)).map(({ result }) => result?.error?.code)).toEqual(answers);
    await expect(other.decide(id, 'discard')).rejects.toMatchObject({ code: 'already_decided' });
  });
});

describe('a batch that waits', () => {
  it('refuses an invalid decision, and an approval as a dry run', async () => {
    const id = await deferred();
    await using later = executor({ approver: approveAll });
    for (const kind of ['keep', 'wait', undefined, null])
      await expect(later.decide(id, kind as 'resume')).rejects.toMatchObject({ code: 'bad_args' });
    await expect(later.approve(id, { dryRun: true })).rejects.toMatchObject({
      code: 'bad_args',
      message: expect.stringContaining('as a dry run'),
    });
    expect(paid()).toEqual(['b nobody']);
    expect(await later.recover()).toMatchObject([{ batchId: id, waitsFor: 'approval' }]);
    expect((await journal.decisions(id)).map(({ kind }) => kind)).toEqual(['wait']);
  });
});

describe('executor.approve()', () => {
  it('asks, runs what is approved, and answers the whole batch in order', async () => {
    const id = await deferred();
    const asked: ApprovalRequest[] = [];
    await using later = executor();
    const run = await later.approve(id, {
      approver: (requests) => {
        asked.push(...requests);
        return { kind: 'approve_selected', ids: ['a'], reasons: { d: 'not dan' }, by: 'ada@example.org' };
      },
    });
    const results = await run.results;
    expect(asked.map(({ callId }) => callId)).toEqual(['a', 'd']);
    expect(results.map(({ callId, output, error }) => [callId, output, error?.code])).toEqual([
      ['a', 'paid ada', undefined],
      ['b', 'paid nobody', undefined],
      ['c', '', 'unknown_tool'],
      ['d', '', 'user_denied'],
    ]);
    expect(paid()).toEqual(['b nobody', 'a ada']);
    const [record] = await journal.batch(id);
    const notes = await journal.notes(record?.key ?? '');
    expect(notes.filter(({ kind }) => kind === 'approval').map(({ data }) => data)).toMatchObject([
      { approved: true, by: 'ada@example.org', args: { to: 'ada' } },
    ]);
    expect(await later.recover()).toEqual([]);
    // Delivered once more: answered from the journal.
    const again = await later.run(CALLS, { conversation: 'c1' });
    expect(again.map(({ metadata }) => metadata.replayed)).toEqual([true, true, true, true]);
    expect(paid()).toHaveLength(2);
  });

  it.each([
    ['in a conversation with a name', { conversation: 'c1' }],
    ['in the executor’s own', {}],
  ])('gives a rerun its own keys, %s', async (_, where: RunOptions) => {
    const keys: string[] = [];
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object' },
      requiresApproval: true,
      execute: (_args, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return 'paid';
      },
    });
    await using one = executor({ tools: [pay] });
    const calls = [{ id: 'call_0', name: 'pay', args: {} }];
    for (const again of [false, true]) {
      const run = one.start(calls, { ...where, defer: true, again });
      await run.results;
      const [result] = await (await one.approve(run.id, { approver: approveAll })).results;
      expect(result?.output).toBe('paid');
    }
    expect(new Set(keys).size).toBe(2);
    if (where.conversation !== undefined) expect(keys[0]).toBe('c1/call_0');
  });

  it('leaves it waiting where there is nobody to ask, or the person walks away', async () => {
    const id = await deferred();
    await using later = executor();
    expect((await (await later.approve(id)).results)[0]).toMatchObject({ metadata: { pending: true } });
    const abort = new AbortController();
    const run = await later.approve(id, {
      signal: abort.signal,
      approver: () => {
        abort.abort();
        return new Promise(() => {});
      },
    });
    expect((await run.results)[0]).toMatchObject({ metadata: { pending: true } });
    expect((await (await later.approve(id, { approver: approveAll })).results)[0]?.output).toBe('paid ada');
  });

  it('leaves it waiting where the approver gives no decision that can be read', async () => {
    const id = await deferred();
    await using later = executor();
    for (const decision of [
      { kind: 'approve_selected' },
      { kind: 'approve_selected', ids: CALLS[0]?.id },
      {},
    ]) {
      const run = await later.approve(id, { approver: () => decision as ApprovalDecision });
      expect((await run.results)[0]).toMatchObject({ metadata: { pending: true } });
    }
    expect((await (await later.approve(id, { approver: approveAll })).results)[0]?.output).toBe('paid ada');
  });

  it('runs once, however many approve at the same time', async () => {
    const id = await deferred();
    const executors = Array.from({ length: 4 }, () => executor());
    const runs = await Promise.all(executors.map((one) => one.approve(id, { approver: approveAll })));
    const answers = await Promise.all(runs.map(({ results }) => results));
    expect(paid()).toEqual(['b nobody', 'a ada', 'd dan']);
    // The later requests have waited for the answers to the first one.
    expect(answers.map((results) => results.map(({ output }) => output))).toEqual(
      answers.map(() => ['paid ada', 'paid nobody', '', 'paid dan']),
    );
    for (const one of executors) await one.close();
  });

  it('evaluates by the policy of now', async () => {
    const id = await deferred();
    await using later = executor({ policy: { denylist: ['pay'] } });
    const results = await (await later.approve(id, { approver: approveAll })).results;
    expect(results.map(({ error }) => error?.code)).toEqual([
      'denylisted',
      undefined,
      'unknown_tool',
      'denylisted',
    ]);
    expect(paid()).toEqual(['b nobody']);
  });

  it('tells apart what was decided, what there is not, and what never waited', async () => {
    await using later = executor({ approver: approveAll });
    const decided = await deferred();
    await (await later.approve(decided)).results;
    const ran = later.start([{ id: 'b', name: 'pay', args: { to: 'nobody' } }], { conversation: 'c2' });
    await ran.results;
    const cases = [
      [decided, 'already_decided'],
      ['no-such-batch', 'unknown_batch'],
      ['', 'unknown_batch'],
      [ran.id, 'bad_args'],
    ];
    for (const [id = '', code] of cases) {
      await expect(later.approve(id), id).rejects.toMatchObject({ code });
      await expect(later.decide(id, 'resume'), id).rejects.toMatchObject({ code });
      await expect(later.decide(id, 'discard'), id).rejects.toMatchObject({ code });
    }
    await expect(later.approve(decided)).rejects.toMatchObject({
      message: expect.stringMatching(/^Cannot approve batch ".+": it was decided already, on 20.+Z\.$/),
      details: { batchId: decided, decision: 'resume', at: expect.stringMatching(/Z$/) },
    });
    expect(paid()).toHaveLength(4);
  });

  it('takes a unique beginning of an id, and refuses one that is too short or shared', async () => {
    await using waits = executor({ clock: standing });
    const defer = async (conversation: string): Promise<string> => {
      const run = waits.start([{ id: 'a', name: 'pay', args: { to: 'ada' } }], { conversation, defer: true });
      await run.results;
      return run.id;
    };
    const [first, second] = [await defer('c1'), await defer('c2')];
    expect(first).not.toBe(second);
    const shared = first.slice(0, 9);
    await expect(waits.approve(shared)).rejects.toMatchObject({
      code: 'unknown_batch',
      message: `Cannot approve batch "${shared}": several batches begin with it: ${second}, ${first}. Give more of the id.`,
      details: { given: shared, batches: [second, first] },
    });
    await expect(waits.decide(shared, 'discard')).rejects.toMatchObject({ code: 'unknown_batch' });
    await expect(waits.approve(first.slice(0, 7))).rejects.toMatchObject({ code: 'unknown_batch' });
    expect(paid()).toEqual([]);
    await (await waits.approve(first.slice(0, 11), { approver: approveAll })).results;
    expect(paid()).toEqual(['a ada']);
    // The decided batch still has the same beginning, so the short id is ambiguous.
    await expect(waits.decide(shared, 'discard')).rejects.toMatchObject({ code: 'unknown_batch' });
    await waits.decide(second.slice(0, 11), 'discard');
    await expect(waits.decide(second.slice(0, 11), 'discard')).rejects.toMatchObject({
      code: 'already_decided',
    });
  });

  it('is not settled as left behind while the process lives that has approved it', async () => {
    const id = await deferred();
    await using later = executor();
    let recovered: unknown;
    const run = await later.approve(id, { approver: approveAll });
    for await (const event of run.events) {
      if (event.type === 'started' && event.callId === 'a') {
        await using other = executor();
        recovered = await other.recover();
      }
    }
    expect(recovered).toEqual([]);
    expect((await run.results).map(({ success }) => success)).toEqual([true, true, false, true]);
  });

  it('answers a call that was delivered before from that delivery, and runs the rest', async () => {
    await using first = executor({ approver: approveAll });
    const b = { id: 'b', name: 'pay', args: { to: 'bob' } };
    await first.run(CALLS.slice(0, 1), { conversation: 'c1' });
    const run = first.start([...CALLS.slice(0, 1), b], DEFER);
    const [, pending] = await run.results;
    expect(pending).toMatchObject({ metadata: { pending: true } });
    const results = await (await first.approve(run.id)).results;
    expect(results.map(({ output, metadata }) => [output, metadata.replayed])).toEqual([
      ['paid ada', true],
      ['paid bob', undefined],
    ]);
    expect(paid()).toEqual(['a ada', 'b bob']);
    expect(await first.recover()).toEqual([]);
  });

  it('answers a second decision with the results of the first, even if the process that deferred the batch is dead', async () => {
    const worker = { id: 'dead', pid: 2 ** 22 + 1, startedAt: 1 };
    const entries = ['ada', 'dan'].map((to) => ({
      ...callEntry(to, { to }),
      toolName: 'pay',
      effects: [{ kind: 'fetch', url: 'https://bank.example' }] as const,
    }));
    await journal.accept(batchEntry('b1', entries, { attach: true, worker }));
    await journal.decide('b1', { kind: 'wait', at: 1, data: { why: 'approval' } });
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using one = executor({
      middleware: [
        async (call, _, next) => {
          if (call.id === 'ada') await gate;
          return next();
        },
      ],
    });
    let isDecided = false;
    let tellLooked = (): void => {};
    const looked = new Promise<void>((resolve) => {
      tellLooked = resolve;
    });
    const seen = new Proxy(journal, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        if (key === 'decisions' && isDecided) tellLooked();
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await using other = executor({ journal: seen });
    let decideLate: (decision: ApprovalDecision) => void = () => {};
    const late = await other.approve('b1', {
      approver: () =>
        new Promise<ApprovalDecision>((resolve) => {
          decideLate = resolve;
        }),
    });
    const first = await one.approve('b1', { approver: approveAll });
    for await (const { type } of first.events) if (type === 'approval_decided') break;
    await expect.poll(async () => (await journal.decisions('b1')).at(-1)?.kind).toBe('resume');
    isDecided = true;
    decideLate({ kind: 'deny_all' });
    // The second call has not begun: it belongs to the process that approved it, which is alive.
    await Promise.race([looked, late.results]);
    release();
    expect((await late.results).map(({ output, error }) => error?.code ?? output)).toEqual([
      'paid ada',
      'paid dan',
    ]);
    expect((await first.results).every(({ success }) => success)).toBe(true);
  });

  it('answers a second decision with the results of the first, even if the second denies', async () => {
    const id = await deferred();
    await using one = executor();
    await using other = executor();
    let decideLate: (decision: ApprovalDecision) => void = () => {};
    const late = await other.approve(id, {
      approver: () =>
        new Promise<ApprovalDecision>((resolve) => {
          decideLate = resolve;
        }),
    });
    await (await one.approve(id, { approver: approveAll })).results;
    decideLate({ kind: 'deny_all' });
    const answers = await late.results;
    expect(answers.map(({ output, error }) => error?.code ?? output)).toEqual([
      'paid ada',
      'paid nobody',
      'unknown_tool',
      'paid dan',
    ]);
    // The record has the outcome of the first.
    expect((await journal.batch(id)).map(({ result }) => result?.success)).toEqual([true, true, false, true]);
  });

  it('records nothing if it is unknown which process has taken the batch over', async () => {
    const id = await deferred();
    let broken = true;
    const failing: Journal = new Proxy(journal, {
      get(target, name) {
        if (name === 'decide' && broken) return () => Promise.reject(new Error('busy'));
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await using later = executor({ journal: failing });
    const [first] = await (await later.approve(id, { approver: approveAll })).results;
    expect(first).toMatchObject({ error: { code: 'approval_unavailable' }, metadata: { pending: true } });
    broken = false;
    expect((await (await later.approve(id, { approver: approveAll })).results)[0]?.output).toBe('paid ada');
  });

  it('runs nothing in a mode in which nothing runs, and leaves it waiting', async () => {
    const id = await deferred();
    await using later = executor({ mode: 'parse_only' });
    await expect(later.approve(id, { approver: approveAll })).rejects.toMatchObject({
      code: 'tools_disabled',
    });
    expect(await later.recover()).toMatchObject([{ batchId: id, waitsFor: 'approval' }]);
  });
});
