// A model asked without any SDK: its text as it arrives, its calls run, its answer at the end. A server on this machine
// plays the model.
import assert from 'node:assert/strict';
// #region ask
import { createExecutor } from 'toolexec';
import { type ModelMessage, openai } from 'toolexec/models';
// #endregion ask
import { openDesk, READ } from './fake-model/open-desk.js';
import { serveModel } from './fake-model/serve-model.js';

const { workspace, clear } = openDesk();
const server = await serveModel([
  [
    toChunk({
      tool_calls: [{ index: 0, id: 'call_1', function: { name: 'read_file', arguments: '{"path":' } }],
    }),
    toChunk({ tool_calls: [{ index: 0, function: { arguments: JSON.stringify(READ.path) } }] }),
    toChunk({ tool_calls: [{ index: 0, function: { arguments: '}' } }] }),
    toChunk({}, 'tool_calls'),
  ],
  [toChunk({ content: 'Two orders ' }), toChunk({ content: 'are open.' }), toChunk({}, 'stop')],
]);
const baseUrl = server.url;

// #region ask

// Without baseUrl this is OpenAI itself, with the key from OPENAI_API_KEY.
const model = openai({ model: 'qwen3', baseUrl });
await using executor = createExecutor({ root: workspace });

async function converse(prompt: string, signal: AbortSignal): Promise<string> {
  const messages: ModelMessage[] = [{ role: 'user', content: prompt }];
  for (let turn = 0; turn < 20; turn++) {
    for await (const event of model.stream({ messages, tools: executor.definitions() }, { signal })) {
      if (event.type === 'text') process.stdout.write(event.text);
      if (event.type !== 'end') continue;
      messages.push(event.message);
      if (event.stopReason !== 'tool_calls') return event.message.text;
      messages.push(event.answer(await executor.run(event.message.calls, { signal })));
    }
  }
  throw new Error('The model did not come to an end in 20 turns.');
}
// #endregion ask

function toChunk(delta: object, finish_reason: string | null = null): object {
  return { id: 'chatcmpl_1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] };
}

try {
  assert.equal(
    await converse('How many orders are open?', AbortSignal.timeout(30_000)),
    'Two orders are open.',
  );
  assert.match(server.requests[1] ?? '', /Cleo,open/);
} finally {
  server.close();
  clear();
}
