// The record of a live run answers the same calls again, in a test of the agent that makes them.
import assert from 'node:assert/strict';
import { createExecutor, defineTool, type Executor, openJournal } from 'toolexec';
import { createTape } from 'toolexec/testing';

let asked = 0;
const weather = defineTool({
  name: 'weather',
  description: 'Tells the weather of a city.',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effects: ({ city }) => [{ kind: 'fetch', url: `https://weather.example/${city}` }],
  execute: ({ city }) => `${city}: ${10 + asked++} °C`,
});

/** The agent under test: it looks twice, and tells how much warmer it got. */
async function agent(executor: Executor, city: string): Promise<string> {
  const before = await executor.invoke('weather', { city });
  const after = await executor.invoke('weather', { city });
  const degrees = (text: string) => Number(/: (-?\d+)/.exec(text)?.[1]);
  return `${degrees(after) - degrees(before)} warmer`;
}

const journal = openJournal(':memory:');
await using live = createExecutor({ tools: [weather], journal, approver: null });
assert.equal(await agent(live, 'Oslo'), '1 warmer');

// `toolexec journal export` writes the same as JSON lines: their text will do as well.
const batches = await journal.batches();
const recorded = (await Promise.all(batches.toReversed().map(({ id }) => journal.batch(id)))).flat();
await journal.close();

// #region tape
const tape = createTape(recorded);
await using executor = createExecutor({ ...tape.options });
assert.equal(await agent(executor, 'Oslo'), '1 warmer');
tape.assertDone();
// #endregion tape
assert.equal(asked, 2, 'nothing ran for the tape');

// A call that was never recorded is an error, and never a live call.
await assert.rejects(
  () => agent(executor, 'Rome'),
  /The tape has no answer for weather\(\{"city":"Rome"\}\)/,
);
assert.throws(() => tape.assertDone(), /does not match what was called/);
assert.equal(asked, 2);
