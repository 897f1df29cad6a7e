// The loop in mode parse_only: nothing is run here. The program gives the results.
import assert from 'node:assert/strict';
import { createExecutor, createToolLoop } from 'toolexec';
import { openai } from 'toolexec/models';
import { serveModel } from './fake-model/serve-model.js';
import { speakOpenai } from './fake-model/speak-openai.js';

const server = await serveModel([
  speakOpenai({ calls: [{ id: 'call_1', name: 'stock', args: { item: 'chairs' } }] }),
  speakOpenai({ text: 'There are 12 chairs.' }),
]);
const model = openai({ model: 'qwen3', baseUrl: server.url });
const stock: Readonly<Record<string, number>> = { chairs: 12 };
let answer = '';

// #region submit
await using executor = createExecutor({
  mode: 'parse_only',
  definitions: [{ name: 'stock', description: 'How many there are.', inputSchema: { type: 'object' } }],
});
const loop = createToolLoop({ executor, model });
for await (const event of loop.stream('How many chairs are there?')) {
  if (event.type === 'state' && event.state.kind === 'waiting') {
    for (const { id, args } of event.state.calls) {
      loop.submit(id, { output: String(stock[String(args.item)]) });
    }
  }
  if (event.type === 'end') answer = event.result.text;
}
// #endregion submit

assert.equal(answer, 'There are 12 chairs.');
assert.match(server.requests[1] ?? '', /"content":"12"/);
server.close();
