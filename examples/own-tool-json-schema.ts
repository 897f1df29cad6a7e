// The same with plain JSON Schema: no schema library, and the argument type is inferred all the same.
import assert from 'node:assert/strict';
// #region tool
import { createExecutor, defineTool } from 'toolexec';

const convert = defineTool({
  name: 'convert_temperature',
  description: 'Converts a temperature.',
  input: {
    type: 'object',
    properties: { degrees: { type: 'number' }, from: { enum: ['celsius', 'fahrenheit'] } },
    required: ['degrees', 'from'],
    additionalProperties: false,
  },
  effects: () => [],
  execute: ({ degrees, from }) =>
    from === 'celsius' ? `${degrees * 1.8 + 32} °F` : `${(degrees - 32) / 1.8} °C`,
});
// #endregion tool

await using executor = createExecutor({ tools: [convert] });
assert.equal(await executor.invoke('convert_temperature', { degrees: 100, from: 'celsius' }), '212 °F');

const wrong = await executor.execute('convert_temperature', { degrees: '100', from: 'kelvin' });
assert.equal(wrong.error?.code, 'bad_args');
console.log(wrong.error.message);

assert.deepEqual(
  executor.definitions().map(({ name }) => name),
  ['convert_temperature'],
);
