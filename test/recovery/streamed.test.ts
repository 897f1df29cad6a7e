import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../src/contract/call.js';
import { openJournal } from '../../src/journal/open-journal.js';
import { verifyJournal } from '../../src/journal/verify-journal.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { buildFirst } from '../cli/built-command.js';
import { call, executorFor, filesOf, newDesk, runUntilKilled } from './killed-run.js';

buildFirst();

const WRITES = ['one', 'two', 'three'].map((path) => call('write_file', { path, content: path }, path));
const [FIRST, SECOND, THIRD] = WRITES as [ToolCall, ToolCall, ToolCall];

describe('a response that never came to its end', () => {
  eachOf(
    [
      ['before note', 1, 0],
      ['after note', 1, 1],
      ['after note', 2, 2],
      ['before accept', 2, 3],
    ],
    1,
  )(
    'is a batch of what came, complete, in order, and nothing of it runs: killed %s, time %i',
    async (at, nth, came) => {
      const { root, journal } = newDesk();
      await runUntilKilled({ root, journal, calls: WRITES, conversation: 'c', streamed: true, at, nth });
      const executors = [1, 2, 3].map(() => executorFor({ root, journal }));
      const found = (await Promise.all(executors.map((executor) => executor.recover()))).flat();
      const calls = found.flatMap((batch) => batch.calls);
      expect(new Set(found.map(({ batchId }) => batchId)).size).toBe(came === 0 ? 1 : 1);
      if (came > 0) {
        expect(new Set(calls.map(({ callId }) => callId))).toEqual(
          new Set(WRITES.slice(0, came).map(({ id }) => id)),
        );
        expect(calls[0]?.result?.error).toMatchObject({ code: 'cancelled', details: { executed: 'no' } });
      }
      expect(filesOf(root)).toEqual({});
      const store = openJournal(journal);
      const batches = (await store.batches({ conversation: 'c' })).filter(({ attach }) => attach);
      expect(batches).toHaveLength(came === 0 ? 0 : 1);
      const recorded = await store.batch(batches[0]?.id ?? '');
      expect(recorded.map(({ callId, toolName, args }) => ({ id: callId, name: toolName, args }))).toEqual(
        WRITES.slice(0, came),
      );
      const said = ['And one. ', 'And one. And two. ', 'And one. And two. And three. '][came - 1];
      expect(batches[0]?.message).toEqual(came === 0 ? undefined : { text: said, model: 'm', provider: 'p' });
      expect(await store.unfinished()).toEqual([]);
      await store.close();
      expect(verifyJournal(journal)).toMatchObject({ intact: true });
      const [executor] = executors;
      // No call waits, and the delivered ones have their final answers.
      const again = await executor?.run(WRITES, { conversation: 'c' });
      expect(again?.map(({ success }) => success)).toEqual(WRITES.map((_, index) => index >= came));
      expect(await executor?.recover()).toEqual([]);
    },
    60_000,
  );

  it('is the batch that it has become, where that came so far', async () => {
    const { root, journal } = newDesk();
    const killed = { root, journal, calls: WRITES, conversation: 'c', streamed: true };
    await runUntilKilled({ ...killed, at: 'before finish', nth: 2 });
    const executor = executorFor({ root, journal });
    const [batch, ...others] = await executor.recover();
    expect(others).toEqual([]);
    expect(batch?.calls.map(({ callId, result }) => [callId, result?.success])).toEqual([
      ['one', true],
      ['two', true],
      ['three', false],
    ]);
    expect(batch).toMatchObject({ waits: true, waitsFor: 'recovery' });
    expect(filesOf(root)).toEqual({ one: 'one', two: 'two' });
  });
});

describe.each(['file', 'memory'])('executor.receive() with a journal in %s', (kind) => {
  function desk() {
    const { root, journal } = newDesk();
    return { root, executor: executorFor({ root, ...(kind === 'file' ? { journal } : {}) }) };
  }

  it('runs what came when the stream is whole, as one batch', async () => {
    const { root, executor } = desk();
    const incoming = executor.receive({ conversation: 'c' });
    await incoming.add([FIRST, SECOND], 'I write.');
    await incoming.add([THIRD]);
    expect(filesOf(root)).toEqual({});
    const run = incoming.start();
    expect(run.id).toBe(incoming.id);
    const results = await run.results;
    expect(results.map(({ callId, success }) => [callId, success])).toEqual([
      ['one', true],
      ['two', true],
      ['three', true],
    ]);
    expect(filesOf(root)).toEqual({ one: 'one', two: 'two', three: 'three' });
    await expect(incoming.add([FIRST])).rejects.toMatchObject({ code: 'bad_args' });
    expect(() => incoming.start()).toThrow(/started or dropped/);
    expect(await executor.recover()).toEqual([]);
  });

  it('answers the calls of an interrupted stream, for good', async () => {
    const { root, executor } = desk();
    const incoming = executor.receive({ conversation: 'c' });
    await incoming.add([FIRST]);
    const [dropped] = await incoming.drop('the model was stopped');
    expect(dropped?.error).toMatchObject({
      code: 'cancelled',
      message: 'It was never started: the model was stopped.',
      details: { executed: 'no' },
    });
    const [again] = await executor.run([FIRST], { conversation: 'c' });
    expect(again).toMatchObject({ error: dropped?.error, metadata: { replayed: true } });
    expect(filesOf(root)).toEqual({});
  });

  it('is empty if nothing came, and refuses a value that is not a call', async () => {
    const { executor } = desk();
    expect(await executor.receive().start().results).toEqual([]);
    expect(await executor.receive().drop()).toEqual([]);
    await expect(executor.receive().add(JSON.parse('"x"'))).rejects.toMatchObject({ code: 'bad_args' });
    expect(() => executor.receive(JSON.parse('{"conversation":""}'))).toThrow(/conversation/);
  });
});

it('records with the first calls what had been said before them', async () => {
  const { root, journal } = newDesk();
  const executor = executorFor({ root, journal });
  const incoming = executor.receive({ conversation: 'c', message: { text: 'I write.', model: 'm' } });
  await incoming.add([FIRST]);
  await incoming.add([SECOND], 'I write. And two.');
  const store = openJournal(journal);
  const [stream] = await store.unfinished('c');
  const notes = await store.notes(stream?.key ?? '');
  expect(notes.map(({ data }) => data.said)).toEqual(['I write.', 'I write. And two.']);
  await store.close();
  await incoming.drop();
});

it('records nothing of a dry run', async () => {
  const { root, journal } = newDesk();
  writeFileSync(join(root, 'f'), 'x');
  const executor = executorFor({ root, journal });
  const incoming = executor.receive({ dryRun: true });
  await incoming.add([call('write_file', { path: 'f', content: 'y', mode: 'overwrite' })]);
  expect((await incoming.start().results)[0]?.output).toMatch(/^\[Dry Run\]/);
  const store = openJournal(journal);
  expect(await store.batches()).toEqual([]);
  await store.close();
});
