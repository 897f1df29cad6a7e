import { describe, expect, it } from 'vitest';
import { type CallRecord, createExecutor, defineTool, openJournal, type Tool } from '../src/index.js';
import { createTape } from '../src/testing.js';

let ran = 0;
const roll = defineTool({
  name: 'roll',
  description: 'Rolls a die.',
  input: { type: 'object', properties: { sides: { type: 'integer' } }, required: ['sides'] },
  effects: () => [{ kind: 'unknown' }],
  execute: ({ sides }) => {
    ran += 1;
    if (sides === 0) return { text: 'no die', error: { message: 'no sides', details: { sides } } };
    return { text: `roll ${ran} of ${sides}`, metadata: { ran } };
  },
});
const call = (id: string, sides: unknown) => ({ id, name: 'roll', args: { sides } as { sides: number } });

/** The records of a live run of these calls. */
async function record(...sides: readonly unknown[]): Promise<readonly CallRecord[]> {
  const journal = openJournal(':memory:');
  await using executor = createExecutor({ tools: [roll as Tool], journal, approver: null });
  const run = executor.start(
    sides.map((each, at) => call(`live_${at}`, each)),
    { conversation: 'c' },
  );
  await run.results;
  const records = await journal.batch(run.id);
  await journal.close();
  return records;
}

describe('createTape()', () => {
  it('answers every call as it was answered, in whatever batch and under whatever id, and runs nothing', async () => {
    const records = await record(6, 20, 6, 0, 'six');
    const before = ran;
    const tape = createTape(records);
    await using executor = createExecutor({ ...tape.options });
    const first = await executor.run([call('a', 20), call('b', 6), call('c', 'six')]);
    const second = await executor.run([call('d', 0), call('e', 6)]);
    const [six, twenty, sixAgain, none, wrong] = records.map(({ result }) => result);
    const expected = [twenty, six, wrong, none, sixAgain];
    expect([...first, ...second]).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((callId, at) => ({ ...expected[at], callId })),
    );
    expect(wrong?.error?.code).toBe('bad_args');
    expect(ran).toBe(before);
    expect(tape.unused).toEqual([]);
    tape.assertDone();
  });

  it('fails a call that it does not hold, says why, and does not let that be overlooked', async () => {
    const tape = createTape(await record(6, 20));
    const before = ran;
    await using executor = createExecutor({ ...tape.options });
    const results = await executor.run([
      call('a', 6),
      call('b', 6),
      call('c', 7),
      { id: 'd', name: 'other', args: {} },
      { id: 'e', name: 'no tool name!', args: {} },
    ]);
    expect(results[0]?.success).toBe(true);
    expect(results.slice(1).map(({ error }) => error)).toEqual([
      expect.objectContaining({
        code: 'execution_failed',
        message:
          'The tape has no answer for roll({"sides":6}): it was recorded once, and every answer is used.',
        details: { executed: 'no', tapeMiss: true },
      }),
      expect.objectContaining({
        message:
          'The tape has no answer for roll({"sides":7}): of this tool it still holds roll({"sides":20}).',
      }),
      expect.objectContaining({ message: expect.stringContaining('no unused call of this tool is on it.') }),
      expect.objectContaining({ details: { executed: 'no', tapeMiss: true } }),
    ]);
    expect(ran).toBe(before);
    expect(tape.misses.map(({ callId }) => callId)).toEqual(['b', 'c', 'd', 'e']);
    expect(() => tape.assertDone()).toThrow(
      /^The tape does not match.*roll\(\{"sides":7\}\).*No call asked/s,
    );
    expect(() => {
      using scope = tape;
      void scope;
    }).toThrow('The tape does not match');
  });

  it('says what nobody asked for', async () => {
    const tape = createTape(await record(6));
    expect(tape.unused).toMatchObject([{ toolName: 'roll', args: { sides: 6 } }]);
    expect(() => tape.assertDone()).toThrow('No call asked for roll({"sides":6}), which is on the tape.');
  });

  it('reads the lines of an export, of one conversation, and passes over what is no call', () => {
    const result = { callId: 'x', toolName: 'roll', success: true, output: '4', truncated: false };
    const line = (conversation: string, more: object) =>
      JSON.stringify({ kind: 'call', conversation, toolName: 'roll', args: {}, state: 'done', ...more });
    const text = [
      JSON.stringify({ kind: 'conversation', id: 'c1' }),
      line('c1', { result }),
      line('c2', { result }),
      line('c1', { state: 'running' }),
      '',
    ].join('\n');
    expect(createTape(text).unused).toHaveLength(2);
    expect(createTape(text, { conversation: 'c1' }).unused).toMatchObject([{ conversation: 'c1' }]);
  });

  it.each([
    ['{"kind":"call"}', 'record 1: a call needs "toolName", "args"'],
    ['{}\n{', /record 2: line 1, column 2: .*[^.]\.$/],
    [[5], /record 1: it is not an object\.$/],
    [null, 'Cannot make a tape of null: give what "toolexec journal export" wrote'],
    [{ calls: [] }, 'a value of type object'],
    [[{ toolName: 'x', args: {}, result: {} }], 'record 1: a call needs'],
  ])('refuses %j', (recorded, why) => {
    const message = typeof why === 'string' ? expect.stringContaining(why) : expect.stringMatching(why);
    // A value from JavaScript may be anything.
    expect(() => createTape(recorded as Iterable<unknown>)).toThrow(
      expect.objectContaining({ code: 'config_invalid', message }),
    );
  });

  it('answers behind the policy and the approval of an executor that has its own', async () => {
    const tape = createTape(await record(6));
    const before = ran;
    const asked: string[] = [];
    await using executor = createExecutor({
      tools: [roll as Tool],
      cache: false,
      middleware: [tape.middleware],
      approver: async (requests) => {
        asked.push(...requests.map(({ callId }) => callId));
        return { kind: 'approve_all' };
      },
    });
    const [result] = await executor.run([call('a', 6)]);
    expect(result?.success).toBe(true);
    expect([asked, ran]).toEqual([['a'], before]);
    tape.assertDone();
  });
});
