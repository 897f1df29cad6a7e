import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/contract/context.js';
import type { BatchEntry, CallEntry, Worker } from '../../src/contract/journal.js';
import type { JsonObject } from '../../src/contract/json.js';
import type { RecoveredBatch } from '../../src/contract/open-batch.js';
import type { ToolSpec } from '../../src/contract/tool.js';
import { builtinTools } from '../../src/executor/builtin-tools.js';
import { defineTool } from '../../src/executor/declare/define-tool.js';
import { openJournal } from '../../src/journal/open-journal.js';
import { verifyJournal } from '../../src/journal/verify-journal.js';
import { systemClock } from '../../src/platform/clock/clock.js';
import { workerOfThisProcess } from '../../src/platform/process/worker-of-this-process.js';
import { batchEntry, callEntry, successOf } from '../../src/testing/journal-entries.js';
import { buildFirst } from '../cli/built-command.js';
import { call, executorFor, newDesk, runUntilKilled, startKilledRun } from './killed-run.js';

buildFirst();

const own = workerOfThisProcess();
/** No process has this id: it is larger than any that the system assigns. */
const DEAD: Worker = { id: 'dead', pid: 2 ** 22 + 1, startedAt: 1 };

interface Left {
  readonly calls?: readonly CallEntry[];
  readonly worker?: Worker;
  /** How many of the calls were started, and how many of those have their answer. */
  readonly started?: number;
  readonly done?: number;
}

/** A journal as left by a process that dies in the middle of a batch. */
async function leave(path: string, left: Left = {}, batch: Partial<BatchEntry> = {}): Promise<void> {
  const { calls = [callEntry('x')], worker = DEAD, started = 1, done = 0 } = left;
  const journal = openJournal(path);
  const answers = await journal.accept(
    batchEntry('b1', calls, { worker, attach: true, conversation: 'c', ...batch }),
  );
  for (const [index, { key }] of answers.entries()) {
    if (index < started) await journal.claim(key, worker, 1);
    if (index < done) await journal.finish(key, successOf(calls[index]?.callId ?? ''), 2, worker);
  }
  await journal.close();
}

const told = (batches: readonly RecoveredBatch[]): unknown =>
  batches.map(({ calls }) =>
    calls.map(({ result }) =>
      result?.success === true ? 'ok' : `${result?.error.code} ${String(result?.error.details?.executed)}`,
    ),
  );

/** A tool that counts how often it runs, and can be asked afterwards. */
function counting(spec: Partial<ToolSpec<unknown>> = {}) {
  const runs: unknown[] = [];
  const tool = defineTool({
    name: 'write_file',
    description: 'd',
    input: { type: 'object' },
    ...spec,
    execute: (args, { idempotencyKey }) => {
      runs.push([args, idempotencyKey]);
      return 'ran';
    },
  });
  return { tool, runs };
}

describe('a process counts as dead', () => {
  it.each<[string, Partial<Worker>]>([
    ['when no process has its id', DEAD],
    ['when its id is another’s by now, as the ticks say', { ...own, id: 'x', startTicks: 5 }],
    ['when its id is another’s by now, as the time says', { id: 'x', pid: own.pid, startedAt: 5 }],
    ['when the machine was started since', { ...own, id: 'x', system: 'another-boot pid:[1]' }],
  ])('%s', async (_, worker) => {
    const { root, journal } = newDesk();
    await leave(journal, { worker: { ...DEAD, ...worker } });
    expect(told(await executorFor({ root, journal }).recover())).toEqual([['outcome_unknown maybe']]);
  });

  it.each<[string, Worker]>([
    ['another name', { ...own, id: 'x' }],
    ['a start that is known by the clock alone', { id: 'x', pid: own.pid, startedAt: own.startedAt + 900 }],
  ])('not while it lives, under %s', async (_, worker) => {
    const { root, journal } = newDesk();
    await leave(journal, { worker });
    expect(await executorFor({ root, journal }).recover()).toEqual([]);
  });

  it('not while it runs a call; and when it is killed, that is unknown and not run again', async () => {
    const { root, journal } = newDesk();
    const file = join(root, '..', 'sent');
    const calls = [call('send', { file, hang: true })];
    const child = startKilledRun({ root, journal, calls, conversation: 'c', at: 'never never' });
    await expect.poll(() => existsSync(file)).toBe(true);
    const { tool, runs } = counting({ name: 'send' });
    const executor = executorFor({ root, journal, tools: [tool] });
    expect(await executor.recover()).toEqual([]);
    const meanwhile = executor.run(calls, { conversation: 'c' });
    const soon = new Promise((resolve) => setTimeout(resolve, 200, 'waits'));
    expect(await Promise.race([meanwhile, soon])).toBe('waits');
    child.kill('SIGKILL');
    expect((await meanwhile)[0]?.error?.code).toBe('outcome_unknown');
    // The waiting call has already recovered it.
    expect(await executor.recover()).toEqual([]);
    const [again] = await executor.run(calls, { conversation: 'c' });
    expect(again?.error).toMatchObject({ code: 'outcome_unknown', details: { executed: 'maybe' } });
    expect([runs, readFileSync(file, 'utf8')]).toEqual([[], 'sent\n']);
  });
});

describe('recovery', () => {
  it('settles each call once, however many recover at the same time, and never runs one', {
    tags: ['soak'],
  }, async () => {
    const { root, journal } = newDesk();
    const calls = Array.from({ length: 40 }, (_, index) => callEntry(`x${index}`));
    await leave(journal, { calls, started: 20 });
    const { tool, runs } = counting();
    const executors = [1, 2, 3].map(() => executorFor({ root, journal, tools: [tool] }));
    const all = await Promise.all(executors.map((executor) => executor.recover()));
    const store = openJournal(journal);
    const kept = (await store.batch('b1')).map(({ result }) => result);
    for (const batches of all.filter(({ length }) => length > 0)) {
      expect(batches[0]?.calls.map(({ result }) => result)).toEqual(kept);
    }
    expect(kept.map((result) => result?.error?.code)).toEqual([
      ...Array<string>(20).fill('outcome_unknown'),
      ...Array<string>(20).fill('cancelled'),
    ]);
    expect([await store.unfinished(), runs]).toEqual([[], []]);
    await store.close();
    expect(verifyJournal(journal)).toMatchObject({ intact: true });
  });

  it.each<[string, ToolSpec<unknown>['probe'], string]>([
    ['applied', () => 'applied', 'ok'],
    ['not applied', async () => 'not_applied', 'cancelled no'],
    ['unknown', () => 'unknown', 'outcome_unknown maybe'],
    ['something else', () => JSON.parse('"yes"'), 'outcome_unknown maybe'],
    ['nothing, but throws', () => Promise.reject(new Error('no')), 'outcome_unknown maybe'],
    ['nothing, because there is no probe', undefined, 'outcome_unknown maybe'],
  ])('believes a probe that says: %s', async (_, probe, expected) => {
    const { root, journal } = newDesk();
    await leave(journal);
    const { tool, runs } = counting(probe === undefined ? {} : { probe });
    const [batch] = await executorFor({ root, journal, tools: [tool] }).recover();
    expect(told(batch === undefined ? [] : [batch])).toEqual([[expected]]);
    expect(batch?.calls[0]?.result?.metadata).toMatchObject({ recovered: true });
    if (expected === 'ok') expect(batch?.calls[0]?.result?.output).toContain('settled by probe');
    expect(runs).toEqual([]);
  });

  const inside = { transaction: '/x/transaction-1', state: 'discarded' };
  it.each<[string, readonly JsonObject[], string]>([
    // Outside the sandbox a process is recorded only once it runs.
    ['nothing', [], 'outcome_unknown maybe'],
    ['that it runs', [{ pid: 1 }], 'outcome_unknown maybe'],
    ['how it ended', [{ pid: 1 }, { pid: 1, exitCode: 0 }], 'ok'],
    ['how it failed', [{ pid: 1 }, { pid: 1, exitCode: 3 }], 'execution_failed yes'],
    ['that it is prepared for the sandbox', [{ preparing: true }], 'cancelled no'],
    ['that it is about to start in it', [{ preparing: true }, { starting: true }], 'outcome_unknown maybe'],
    ['that its changes were dropped', [{ preparing: true }, { ...inside, network: false }], 'cancelled no'],
    [
      'the same, with the network',
      [{ preparing: true }, { ...inside, network: true }],
      'outcome_unknown maybe',
    ],
  ])('knows of a program that is a tool what its record says: %s', async (_, notes, expected) => {
    const { root, journal } = newDesk();
    await leave(journal);
    const store = openJournal(journal);
    for (const data of notes) await store.note('b1/0', { kind: 'process', data, at: 3 });
    await store.close();
    const { tool } = counting({ program: { trusted: false } });
    expect(told(await executorFor({ root, journal, tools: [tool] }).recover())).toEqual([[expected]]);
  });

  it('waits for a probe that hangs only so long', async () => {
    const { root, journal } = newDesk();
    await leave(journal);
    const { tool } = counting({ probe: () => new Promise(() => {}) });
    const waits: number[] = [];
    const clock: Clock = {
      ...systemClock,
      after(delayMs, callback) {
        waits.push(delayMs);
        return systemClock.after(delayMs === 5000 ? 50 : delayMs, callback);
      },
    };
    const executor = executorFor({ root, journal, tools: [tool], clock });
    expect(told(await executor.recover())).toEqual([['outcome_unknown maybe']]);
    expect(waits.filter((delayMs) => delayMs === 5000)).toHaveLength(1);
  });

  it('lets a probe see the notes and the files, and change nothing', async () => {
    const { root, journal } = newDesk();
    writeFileSync(join(root, 'a.txt'), 'here');
    await leave(journal);
    const store = openJournal(journal);
    await store.note('b1/0', { kind: 'intent', data: { mine: 1 }, at: 3 });
    await store.close();
    const seen: unknown[] = [];
    const { tool } = counting({
      async probe(args, { files, notes, callId }) {
        seen.push(args, notes, callId, String(Buffer.from(await files.read('a.txt'))));
        await files.write('b.txt', Buffer.from('x'), { mode: 'create' });
        return 'applied' as const;
      },
    });
    expect(told(await executorFor({ root, journal, tools: [tool] }).recover())).toEqual([
      ['outcome_unknown maybe'],
    ]);
    expect(seen).toEqual([{ path: 'a.txt' }, [{ mine: 1, kind: 'intent', at: 3 }], 'x', 'here']);
    expect(existsSync(join(root, 'b.txt'))).toBe(false);
  });

  it('answers unknown for a tool that no longer exists', async () => {
    const { root, journal } = newDesk();
    await leave(journal);
    expect(told(await executorFor({ root, journal, tools: [] }).recover())).toEqual([
      ['outcome_unknown maybe'],
    ]);
  });

  it('takes a call that only reads as never started: it has changed nothing', async () => {
    const { root, journal } = newDesk();
    const read: CallEntry = {
      ...callEntry('x'),
      toolName: 'read_file',
      effects: [{ kind: 'read', path: 'a' }],
    };
    await leave(journal, { calls: [read], started: 0 });
    const [batch] = await executorFor({ root, journal }).recover();
    expect(batch?.calls[0]?.result?.error).toMatchObject({
      code: 'cancelled',
      details: { executed: 'no' },
      message: expect.stringContaining('only reads'),
    });
  });

  it('tells what became of a command’s process', async () => {
    const { root, journal } = newDesk();
    const calls = [call('bash', { command: 'true' })];
    await runUntilKilled({ root, journal, calls, at: 'before finish', transactions: 'off' });
    const [batch] = await executorFor({ root, journal }).recover();
    expect(batch?.calls[0]?.result?.error?.code).toBe('outcome_unknown');
    expect(batch?.calls[0]?.result?.metadata.evidence).toMatchObject({
      processes: [{ pid: expect.any(Number), running: false }],
    });
  });

  it.each([
    ['went well', { exitCode: 0, signal: null }, 'ok'],
    ['failed', { exitCode: 3, signal: null }, 'execution_failed yes'],
    ['was ended by a signal', { exitCode: null, signal: 'SIGKILL' }, 'outcome_unknown maybe'],
  ])('settles a command whose end is on record by it: it %s', async (_, end, expected) => {
    const { root, journal } = newDesk();
    const bash: CallEntry = {
      ...callEntry('x', { command: 'make' }),
      toolName: 'bash',
      effects: [{ kind: 'run', command: 'make', shell: 'sh' }],
    };
    await leave(journal, { calls: [bash, callEntry('y')], started: 1 });
    const store = openJournal(journal);
    await store.note('b1/0', { kind: 'process', data: { pid: 2 ** 22 + 2, startTicks: 1 }, at: 2 });
    await store.note('b1/0', { kind: 'process', data: { pid: 2 ** 22 + 2, ...end }, at: 3 });
    await store.close();
    const batches = await executorFor({ root, journal }).recover();
    expect(told(batches)).toEqual([[expected, 'cancelled no']]);
    // Some of its effects are known to exist, so the other call waits for the person.
    expect(batches[0]?.waits).toBe(!expected.startsWith('outcome_unknown'));
  });

  it('ends what waited for approval and was given up by a process that died before it had answered', async () => {
    const { root, journal } = newDesk();
    await leave(journal, { started: 0 });
    const store = openJournal(journal);
    await store.decide('b1', { kind: 'wait', at: 2, data: { why: 'approval' } });
    expect(told(await executorFor({ root, journal }).recover())).toEqual([['undefined undefined']]);
    await store.decide('b1', { kind: 'discard', at: 3, data: { why: 'approval' } });
    await store.close();
    expect(told(await executorFor({ root, journal }).recover())).toEqual([['cancelled no']]);
  });

  it('leaves what has changed files of other directories to whoever has them', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const { root, journal } = newDesk();
    const elsewhere = newDesk().root;
    const calls = [call('note', { text: 'x' }), call('write_file', { path: 'f', content: 'x' })];
    await runUntilKilled({ root, journal, calls, conversation: 'c', at: 'after put' });
    const stranger = executorFor({ root: elsewhere, journal });
    const [left] = await stranger.recover();
    expect(left?.calls.map(({ state, result }) => [state, result])).toContainEqual(['running', undefined]);
    await stranger.close();
    const [settled] = await executorFor({ root, journal }).recover();
    expect(settled?.calls.at(-1)).toMatchObject({ state: 'done', result: { success: true } });
  });

  it('settles more than a page holds, each batch whole, and what lives in between stays', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const { root, journal } = newDesk();
    const store = openJournal(journal);
    const accepted: unknown[] = [];
    for (let at = 0; at < 700; at++) {
      const worker = at % 70 === 0 ? { ...own, id: 'x' } : DEAD;
      const entries = [callEntry(`a${at}`), callEntry(`b${at}`), callEntry(`c${at}`)];
      accepted.push(store.accept(batchEntry(`b${at}`, entries, { worker, conversation: `c${at}` })));
    }
    await Promise.all(accepted);
    await store.close();
    const { tool } = counting();
    const batches = await executorFor({ root, journal, tools: [tool] }).recover();
    expect(batches).toHaveLength(690);
    expect(batches.every(({ calls }) => calls.length === 3 && calls.every(({ result }) => result))).toBe(
      true,
    );
    expect(batches.map(({ batchId }) => Number(batchId.slice(1)))).toEqual(
      Array.from({ length: 700 }, (_, at) => at).filter((at) => at % 70 !== 0),
    );
  });

  it('runs by itself before the first batch, and leaves alone what another executor of this process runs', async () => {
    const { root, journal } = newDesk();
    await leave(journal, {}, { id: 'b2', conversation: 'other' });
    const { tool, runs } = counting();
    const first = executorFor({ root, journal, tools: [tool] });
    expect((await first.run([call('write_file', {})], { conversation: 'c' }))[0]?.success).toBe(true);
    const store = openJournal(journal);
    expect((await store.call('b2/0'))?.result?.error?.code).toBe('outcome_unknown');
    await store.close();
    expect(runs).toHaveLength(1);
  });

  it("reruns a call on request, under another key and beside the first delivery's result", async () => {
    const { root, journal } = newDesk();
    const { tool, runs } = counting();
    const executor = executorFor({ root, journal, tools: [tool] });
    const calls = [call('write_file', { path: 'x' })];
    const first = await executor.run(calls, { conversation: 'c' });
    await executor.run(calls, { conversation: 'c', again: true });
    expect(runs).toHaveLength(2);
    const keys = (runs as [unknown, string][]).map(([, key]) => key);
    expect(new Set(keys).size).toBe(2);
    const [third] = await executor.run(calls, { conversation: 'c' });
    expect(third).toMatchObject({ output: first[0]?.output, metadata: { replayed: true } });
    expect(runs).toHaveLength(2);
  });

  it('gives the same idempotency key to every delivery, and runs a call again only under another id', async () => {
    const { root, journal } = newDesk();
    await leave(journal, { started: 0 });
    const { tool, runs } = counting();
    const executor = executorFor({ root, journal, tools: [tool] });
    const again = (id: string) =>
      executor.run([call('write_file', { path: 'a.txt' }, id)], { conversation: 'c' });
    expect((await again('x'))[0]?.error?.code).toBe('cancelled');
    expect((await again('y'))[0]?.success).toBe(true);
    expect(runs).toEqual([[{ path: 'a.txt' }, 'c/y']]);
  });

  it('gives no two calls one key, however their names are spelled', async () => {
    const { root, journal } = newDesk();
    const { tool, runs } = counting();
    const executor = executorFor({ root, journal, tools: [tool] });
    const names = [
      ['a/b', 'c'],
      ['a', 'b/c'],
      ['a%2Fb', 'c'],
    ] as const;
    for (const [conversation, id] of names)
      await executor.run([call('write_file', {}, id)], { conversation });
    expect(new Set((runs as [unknown, string][]).map(([, key]) => key)).size).toBe(3);
  });
});

describe('a batch that is left half done', () => {
  const calls = ['x', 'y', 'z'].map((id) => callEntry(id));
  const delivered = calls.map(({ toolName, args, callId }) => call(toolName, args, callId));

  async function halfDone() {
    const { root, journal } = newDesk();
    await leave(journal, { calls, started: 2, done: 1 });
    const { tool, runs } = counting();
    const executor = executorFor({ root, journal, tools: [tool, ...builtinTools().slice(0, 1)] });
    return { executor, runs, root, journal };
  }
  const NEW = call('write_file', { path: 'new' }, 'new');

  it('waits for the person: nothing new runs in its conversation, and no new call is recorded', async () => {
    const { executor, runs, journal } = await halfDone();
    const [refused] = await executor.run([NEW], { conversation: 'c' });
    expect(refused?.error).toMatchObject({ code: 'cancelled', details: { executed: 'no' } });
    expect(refused?.error?.message).toMatch(/left half done.*wait for the person/);
    expect(refused?.error?.hint).toMatch(/--resume b1.*--discard b1/);
    expect(refused?.error?.hint).not.toContain('approve');
    const store = openJournal(journal);
    expect(await store.find('c', 'new')).toBeUndefined();
    await store.close();
    expect((await executor.run([NEW], { conversation: 'other' }))[0]?.success).toBe(true);
    const again = await executor.run([...delivered, NEW], { conversation: 'c' });
    expect(again.map(({ success, error }) => (success ? 'ok' : error.code))).toEqual([
      'ok',
      'outcome_unknown',
      'cancelled',
      'cancelled',
    ]);
    expect(runs).toHaveLength(1);
    expect(await executor.recover()).toMatchObject([{ batchId: 'b1', conversation: 'c', waits: true }]);
  });

  it('is resumed with what there is', async () => {
    const { executor, runs } = await halfDone();
    await executor.recover();
    await executor.decide('b1', 'resume');
    const results = await executor.run([...delivered, NEW], { conversation: 'c' });
    expect(results.map(({ success, error }) => (success ? 'ok' : error.code))).toEqual([
      'ok',
      'outcome_unknown',
      'cancelled',
      'ok',
    ]);
    expect(runs).toHaveLength(1);
    await expect(executor.decide('b1', 'discard')).rejects.toMatchObject({ code: 'already_decided' });
    expect(await executor.recover()).toEqual([]);
  });

  it.each([
    ['applied', 'ok', undefined, true],
    ['not_applied', 'cancelled', 'no', undefined],
  ] as const)(
    'answers a call as the person has decided: %s, even to a program that asks for the decision',
    async (verdict, told, executed, success) => {
      const { executor, runs, journal } = await halfDone();
      await executor.recover();
      const settled = { y: verdict };
      await expect(executor.decide('b1', 'discard', { settled })).rejects.toThrow('nothing can be settled');
      await expect(executor.decide('b1', 'resume', { settled: { x: verdict } })).rejects.toThrow('is known');
      await expect(executor.decide('b1', 'resume', { settled: { no: verdict } })).rejects.toThrow(
        'no call "no"',
      );
      await executor.decide('b1', 'resume', { settled });
      const results = await executor.run([...delivered, NEW], { conversation: 'c' });
      expect(results.map((result) => (result.success ? 'ok' : result.error.code))).toEqual([
        'ok',
        told,
        'cancelled',
        'ok',
      ]);
      expect(results[1]).toMatchObject({ metadata: { settled_by: 'person', replayed: true } });
      expect(results[1]?.error?.details?.executed).toBe(executed);
      const [, answer] = await executor.transcript('c').answers('b1', delivered);
      expect(answer).toMatchObject({ success: success === true, metadata: { settled_by: 'person' } });
      // The record keeps the facts known without the person.
      const store = openJournal(journal);
      expect(await store.call('b1/1')).toMatchObject({
        settled: verdict,
        result: { error: { code: 'outcome_unknown' } },
      });
      await store.close();
      expect(runs).toHaveLength(1);
    },
  );

  it('is discarded: all of it counts as failed, and what was done stays true', async () => {
    const { executor, runs, journal } = await halfDone();
    await executor.recover();
    await executor.decide('b1', 'discard');
    const results = await executor.run([...delivered, NEW], { conversation: 'c' });
    expect(results.map(({ error }) => [error?.code, error?.details?.executed])).toEqual([
      ['cancelled', 'yes'],
      ['cancelled', 'maybe'],
      ['cancelled', 'no'],
      [undefined, undefined],
    ]);
    expect(results[0]?.error?.message).toContain('iscarded by the user');
    const store = openJournal(journal);
    expect((await store.call('b1/0'))?.result?.success).toBe(true);
    await store.close();
    expect(runs).toHaveLength(1);
  });

  it.each<[string, Left]>([
    ['one call alone is unknown', { started: 1 }],
    ['nothing of it was done', { calls, started: 1 }],
    ['all of it was done', { calls, started: 3, done: 3 }],
  ])('does not wait where %s', async (_, left) => {
    const { root, journal } = newDesk();
    await leave(journal, left);
    const { tool } = counting();
    const executor = executorFor({ root, journal, tools: [tool] });
    expect((await executor.recover()).filter(({ waits }) => waits)).toEqual([]);
    expect((await executor.run([NEW], { conversation: 'c' }))[0]?.success).toBe(true);
  });
});
