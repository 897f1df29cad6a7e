// An agent's loop with OpenAI's SDK and the Responses API, whole and streamed. A server on this machine plays the model.
import assert from 'node:assert/strict';
// #region loop
import OpenAI from 'openai';
import { createExecutor } from 'toolexec';
import { describeTools, readCalls } from 'toolexec/protocols';
// #endregion loop
import { ANSWER, GREP, openDesk, PROMPT, READ, WRITE } from './fake-model/open-desk.js';
import { serveModel } from './fake-model/serve-model.js';

type Item = OpenAI.Responses.ResponseInputItem;

const { workspace, journal, check, clear } = openDesk();
const responses = [
  [toCall('call_1', 'read_file', READ), toCall('call_2', 'grep', GREP)],
  [toCall('call_3', 'write_file', WRITE)],
  [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: ANSWER, annotations: [] }],
    },
  ],
].map((output, index) => ({ id: `resp_${index}`, object: 'response', status: 'completed', output }));
const model = await serveModel([...responses, ...responses.map(toEvents)]);
process.env.OPENAI_BASE_URL = model.url;
process.env.OPENAI_API_KEY = 'not-a-key';

// #region loop

const openai = new OpenAI(); // reads OPENAI_API_KEY
await using executor = createExecutor({
  root: workspace,
  journal,
  policy: { allowlist: ['read_file', 'grep', 'write_file'] },
});
const request = {
  model: 'gpt-5.4',
  tools: describeTools('openai-responses', executor.definitions()),
};

const ask = (input: OpenAI.Responses.ResponseInput): Promise<OpenAI.Responses.Response> =>
  openai.responses.create({ ...request, input });

async function converse(conversation: string, prompt: string, askModel = ask): Promise<string> {
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: prompt }];
  for (let turn = 0; turn < 20; turn++) {
    const response = await askModel(input);
    input.push(...(response.output as Item[]));
    const { calls, errors, answer } = readCalls(response, { format: 'openai-responses' });
    if (calls.length + errors.length === 0) return response.output_text;
    input.push(...answer(await executor.run(calls, { conversation })));
  }
  throw new Error('The model did not come to an end in 20 turns.');
}
// #endregion loop

// #region stream
const askStreaming = (input: OpenAI.Responses.ResponseInput): Promise<OpenAI.Responses.Response> =>
  openai.responses
    .stream({ ...request, input })
    .on('response.output_text.delta', ({ delta }) => process.stdout.write(delta))
    .finalResponse();
// #endregion stream

function toCall(callId: string, name: string, args: object): object {
  return {
    type: 'function_call',
    id: `fc_${callId}`,
    call_id: callId,
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  };
}

function toEvents(response: { readonly output: readonly object[] }): object[] {
  const items = response.output.flatMap((item, output_index) => [
    {
      type: 'response.output_item.added',
      output_index,
      item: 'content' in item ? { ...item, content: [] } : item,
    },
    ...('content' in item ? toTextEvents(output_index) : []),
    { type: 'response.output_item.done', output_index, item },
  ]);
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...items,
    { type: 'response.completed', response },
  ];
  return events.map((event, index) => ({ ...event, sequence_number: index }));
}

function toTextEvents(output_index: number): object[] {
  const at = { item_id: 'msg_1', output_index, content_index: 0 };
  const part = { type: 'output_text', text: '', annotations: [] };
  return [
    { type: 'response.content_part.added', ...at, part },
    { type: 'response.output_text.delta', ...at, delta: ANSWER, logprobs: [] },
  ];
}

try {
  assert.equal(await converse('orders-1', PROMPT), ANSWER);
  check(model.requests);
  assert.equal(await converse('orders-2', PROMPT, askStreaming), ANSWER);
  check(model.requests);
} finally {
  model.close();
  clear();
}
