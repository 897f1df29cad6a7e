// The loop with a custom tool and a scripted model: this is how to test an agent.
import assert from 'node:assert/strict';
// #region test
import { createExecutor, createToolLoop, defineTool } from 'toolexec';
import { createScriptedModel } from 'toolexec/testing';

const weather = defineTool({
  name: 'weather',
  description: 'Tells the weather of a city.',
  input: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  effects: () => [],
  execute: ({ city }) => ({ city, degrees: city === 'Oslo' ? -3 : 21 }),
});

const model = createScriptedModel([
  { calls: [{ name: 'weather', args: { city: 'Oslo' } }] },
  { text: 'It is cold in Oslo.' },
]);
await using executor = createExecutor({ tools: [weather], journal: false });
const loop = createToolLoop({ executor, model });
const { text, results } = await loop.run('Do I need a coat in Oslo?');
// #endregion test

assert.equal(text, 'It is cold in Oslo.');
assert.deepEqual(results[0]?.structured, { city: 'Oslo', degrees: -3 });
assert.deepEqual(
  model.requests[0]?.tools.map(({ name }) => name),
  ['weather'],
);
