import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../contract/call.js';
import type { Journal } from '../../contract/journal.js';
import { createMemoryJournal } from '../../journal/memory/memory-journal.js';
import { openJournal } from '../../journal/open-journal.js';
import { verifyJournal } from '../../journal/verify-journal.js';
import { defineTool } from '../declare/define-tool.js';
import { executorOf, folder } from '../fixtures/plan-fixture.js';

/** Returns the number of the run, and records the key under which it ran. */
function worker() {
  const keys: string[] = [];
  const tool = defineTool({
    name: 'work',
    description: 'Works.',
    input: { type: 'object' },
    effects: () => [{ kind: 'write', path: 'a' }],
    execute: (_args, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      return `run ${keys.length}`;
    },
  });
  return { tool, keys };
}

const madeUp = (turn?: string, args: ToolCall['args'] = {}, id = 'call_0'): ToolCall => ({
  id,
  name: 'work',
  args,
  madeUp: true,
  ...(turn === undefined ? {} : { turn }),
});

const JOURNALS: readonly (readonly [string, () => Journal])[] = [
  ['in memory', () => createMemoryJournal()],
  ['in a file', () => openJournal(join(folder(), 'journal.db'))],
];

describe.each(JOURNALS)('a call whose id was made up, with the journal %s', (_, open) => {
  function setUp() {
    const { tool, keys } = worker();
    const journal = open();
    const executor = executorOf([tool], { journal, policy: null, approver: null });
    const run = async (call: ToolCall, options: { turn?: string; conversation?: string } = {}) => {
      const [result] = await executor.run([call], { conversation: 'c', ...options });
      return (
        result?.error?.code ?? `${result?.output}${result?.metadata.replayed === true ? ' replayed' : ''}`
      );
    };
    return { executor, journal, keys, run };
  }

  it('is never answered with the result of another turn', async () => {
    const { run } = setUp();
    expect(await run(madeUp('turn 1', { x: 1 }))).toBe('run 1');
    expect(await run(madeUp('turn 2', { x: 1 }))).toBe('run 2');
    expect(await run(madeUp('turn 3', { x: 2 }))).toBe('run 3');
  });

  it('is the same delivery within its turn, and a conflict there with other arguments', async () => {
    const { run } = setUp();
    await run(madeUp('turn 1', { x: 1 }));
    await run(madeUp('turn 2', { x: 1 }));
    expect(await run(madeUp('turn 1', { x: 1 }))).toBe('run 1 replayed');
    expect(await run(madeUp('turn 2', { x: 1 }))).toBe('run 2 replayed');
    expect(await run(madeUp('turn 1', { x: 2 }))).toBe('duplicate_tool_call_id');
    expect(await run(madeUp('turn 1', { x: 1 }), { conversation: 'd' })).toBe('run 3');
  });

  it('belongs to the turn of the options, before its own', async () => {
    const { run } = setUp();
    expect(await run(madeUp('own'), { turn: 'said' })).toBe('run 1');
    expect(await run(madeUp(), { turn: 'said' })).toBe('run 1 replayed');
    expect(await run(madeUp('said'))).toBe('run 1 replayed');
    expect(await run(madeUp('own'))).toBe('run 2');
    expect(await run(madeUp('own', { x: 1 }), { turn: 'said' })).toBe('duplicate_tool_call_id');
  });

  it('is always a new call where no turn is known', async () => {
    const { run, keys } = setUp();
    expect(await run(madeUp())).toBe('run 1');
    expect(await run(madeUp())).toBe('run 2');
    expect(await run(madeUp(undefined, { x: 1 }))).toBe('run 3');
    expect(await run({ ...madeUp(), turn: '' })).toBe('run 4');
    expect(new Set(keys).size).toBe(4);
  });

  it("shares nothing with a call that has the same id from its provider, whose turn doesn't matter", async () => {
    const { run, keys } = setUp();
    const own: ToolCall = { id: 'call_0', name: 'work', args: {} };
    expect(await run(madeUp('turn 1'))).toBe('run 1');
    expect(await run(own)).toBe('run 2');
    expect(await run(own, { turn: 'turn 1' })).toBe('run 2 replayed');
    expect(await run({ ...own, turn: 'turn 9' }, { turn: 'turn 2' })).toBe('run 2 replayed');
    expect(await run({ ...own, id: 'turn 1/call_0' })).toBe('run 3');
    expect(await run({ ...own, id: '/turn 1/call_0' })).toBe('run 4');
    expect(new Set(keys).size).toBe(4);
  });

  it('keeps its turn and its key while it waits for approval', async () => {
    const { executor, journal, keys, run } = setUp();
    const ask = defineTool({
      name: 'ask',
      description: 'Asks.',
      input: { type: 'object' },
      requiresApproval: true,
      effects: () => [{ kind: 'write', path: 'b' }],
      execute: (_args, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return 'asked';
      },
    });
    const asking = executorOf([ask], { journal, policy: null });
    const call = { ...madeUp('turn 1'), name: 'ask' };
    const deferred = asking.start([call], { conversation: 'c', defer: true });
    await deferred.results;
    const approver = () => ({ kind: 'approve_all' }) as const;
    const approved = await asking.approve(deferred.id, { approver, turn: 'another' });
    expect((await approved.results)[0]?.output).toBe('asked');
    const again = await asking.run([call], { conversation: 'c', approver });
    expect(again[0]).toMatchObject({ output: 'asked', metadata: { replayed: true } });
    expect(keys).toEqual(['c%/turn 1/call_0']);
    expect(await journal.find('c', 'call_0', 'turn 1')).toMatchObject({ madeUp: true, turn: 'turn 1' });
    await executor.run([madeUp('turn 2')], { conversation: 'c' });
    expect(keys.at(-1)).toBe('c%/turn 2/call_0');
    expect(await run(madeUp('turn 2'))).toBe('run 2 replayed');
  });

  it('keeps its turn through a stream, started or dropped', async () => {
    const { executor, run } = setUp();
    const started = executor.receive({ conversation: 'c' });
    await started.add([madeUp('turn 1')]);
    expect((await started.start().results)[0]?.output).toBe('run 1');
    expect(await run(madeUp('turn 1'))).toBe('run 1 replayed');
    const dropped = executor.receive({ conversation: 'c', turn: 'turn 2' });
    await dropped.add([madeUp()]);
    await dropped.drop();
    expect(await run(madeUp('turn 2'))).toBe('cancelled');
    expect(await run(madeUp('turn 3'))).toBe('run 2');
  });

  it('takes a malformed call without an id for one of those', async () => {
    const { executor, run } = setUp();
    const malformed = { name: 'work', args: {} } as unknown as ToolCall;
    for (let time = 0; time < 2; time++) {
      const [result] = await executor.run([malformed], { conversation: 'c' });
      expect(result).toMatchObject({ callId: 'call_0', error: { code: 'bad_args' } });
      expect(result?.metadata.replayed).toBeUndefined();
    }
    expect(await run({ id: 'call_0', name: 'work', args: {} })).toBe('run 1');
  });
});

it('a stream whose process died answers its calls within their turn', async () => {
  const root = folder();
  const path = join(root, 'journal.db');
  const dead = openJournal(path);
  const [answer] = await dead.accept({
    id: 'stream',
    conversation: 'c',
    attach: false,
    at: 1,
    worker: { id: 'dead', pid: 2 ** 22 + 1, startedAt: 1 },
    calls: [
      {
        callId: 'receive_1',
        toolName: 'receive',
        args: { batch: 'batch', attach: true, turn: 'said' },
        effects: [],
        disposition: 'pre_resolved',
        reason: 'a response is coming in',
      },
    ],
  });
  const calls = [{ ...madeUp('own') }, { id: 'own_1', name: 'work', args: {} }];
  await dead.note(answer?.key ?? '', { kind: 'received', data: { calls } as never, at: 2 });
  await dead.close();
  const { tool } = worker();
  const executor = executorOf([tool], { journal: path, root, policy: null, approver: null });
  const results = await executor.run([madeUp(), { id: 'own_1', name: 'work', args: {} }], {
    conversation: 'c',
    turn: 'said',
  });
  expect(results.map(({ error }) => error?.code)).toEqual(['cancelled', 'cancelled']);
  expect(await executor.run([madeUp('own')], { conversation: 'c' })).toMatchObject([{ output: 'run 1' }]);
  await executor.close();
  expect(verifyJournal(path)).toMatchObject({ intact: true });
});

it('undo finds the newest call of a made-up id, or that of a turn', async () => {
  const root = folder();
  const executor = executorOf(
    [
      defineTool({
        name: 'write',
        description: 'Writes.',
        input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
        effects: ({ path }) => [{ kind: 'write', path }],
        execute: async ({ path }, { files }) => {
          await files.write(path, new TextEncoder().encode('text'), { mode: 'create' });
          return 'written';
        },
      }),
    ],
    { root, policy: null, approver: null },
  );
  for (const turn of ['one', 'two', 'three']) {
    const call = { ...madeUp(turn, { path: turn }), name: 'write' };
    expect(await executor.run([call], { conversation: 'c' })).toMatchObject([{ output: 'written' }]);
  }
  const restored = async (options: object) =>
    (await executor.undo('call_0', { conversation: 'c', dryRun: true, ...options })).restored;
  expect(await restored({})).toEqual([join(root, 'three')]);
  expect(await restored({ turn: 'one' })).toEqual([join(root, 'one')]);
  await expect(restored({ turn: 'four' })).rejects.toThrow('the journal has no such call');
  await expect(restored({ turn: '' })).rejects.toThrow('turn');
});

describe.each(JOURNALS)('ids that look the same and are other characters, with the journal %s', (_, open) => {
  it('are two ids: NFC and NFD in one batch both run, and each is answered again as itself', async () => {
    const { tool } = worker();
    const executor = executorOf([tool], { journal: open(), policy: null, approver: null });
    const calls = ['caf\u00e9', 'cafe\u0301'].map((id) => ({ id, name: 'work', args: {} }));
    const first = await executor.run(calls, { conversation: 'c' });
    const again = await executor.run([...calls].reverse(), { conversation: 'c' });
    expect(first.map(({ callId, output }) => [callId, output])).toEqual([
      ['caf\u00e9', 'run 1'],
      ['cafe\u0301', 'run 2'],
    ]);
    expect(again.map(({ callId, output, metadata }) => [callId, output, metadata.replayed])).toEqual([
      ['cafe\u0301', 'run 2', true],
      ['caf\u00e9', 'run 1', true],
    ]);
  });
});
