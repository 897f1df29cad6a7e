// An agent's loop with Anthropic's SDK, whole and streamed. A server on this machine plays the model.
import assert from 'node:assert/strict';
// #region loop
import Anthropic from '@anthropic-ai/sdk';
import { createExecutor } from 'toolexec';
import { describeTools, readCalls } from 'toolexec/protocols';
// #endregion loop
import { ANSWER, GREP, openDesk, PROMPT, READ, WRITE } from './fake-model/open-desk.js';
import { serveModel } from './fake-model/serve-model.js';

const { workspace, journal, check, clear } = openDesk();
const messages: readonly Partial<Anthropic.Message>[] = [
  {
    role: 'assistant',
    stop_reason: 'tool_use',
    content: [
      { type: 'text', text: 'I will look.', citations: null },
      { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: READ, caller: { type: 'direct' } },
      { type: 'tool_use', id: 'toolu_2', name: 'grep', input: GREP, caller: { type: 'direct' } },
    ],
  },
  {
    role: 'assistant',
    stop_reason: 'tool_use',
    content: [
      { type: 'tool_use', id: 'toolu_3', name: 'write_file', input: WRITE, caller: { type: 'direct' } },
    ],
  },
  {
    role: 'assistant',
    stop_reason: 'end_turn',
    content: [{ type: 'text', text: ANSWER, citations: null }],
  },
];
const model = await serveModel([...messages, ...messages.map(toEvents)]);
process.env.ANTHROPIC_BASE_URL = model.url;
process.env.ANTHROPIC_API_KEY = 'not-a-key';

// #region loop

const anthropic = new Anthropic(); // reads ANTHROPIC_API_KEY
await using executor = createExecutor({
  root: workspace,
  journal,
  policy: { allowlist: ['read_file', 'grep', 'write_file'] },
});
const request = {
  model: 'claude-sonnet-5-5',
  max_tokens: 1024,
  tools: describeTools('anthropic', executor.definitions()),
};

const ask = (messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> =>
  anthropic.messages.create({ ...request, messages });

async function converse(conversation: string, prompt: string, askModel = ask): Promise<string> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: prompt }];
  for (let turn = 0; turn < 20; turn++) {
    const response = await askModel(messages);
    messages.push({ role: 'assistant', content: response.content });
    const { calls, errors, answer } = readCalls(response, { format: 'anthropic' });
    if (calls.length + errors.length === 0) {
      return response.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    }
    messages.push(answer(await executor.run(calls, { conversation })));
  }
  throw new Error('The model did not come to an end in 20 turns.');
}
// #endregion loop

// #region stream
const askStreaming = (messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> =>
  anthropic.messages
    .stream({ ...request, messages })
    .on('text', (text) => process.stdout.write(text))
    .finalMessage();
// #endregion stream

function toEvents({ content = [], ...message }: Partial<Anthropic.Message>): object[] {
  const blocks = content.flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: { ...block, ...withoutContent(block) } },
    { type: 'content_block_delta', index, delta: toDelta(block) },
    { type: 'content_block_stop', index },
  ]);
  const { stop_reason } = message;
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: {} } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
}

function withoutContent({ type }: Anthropic.ContentBlock): object {
  return type === 'text' ? { text: '' } : { input: {} };
}

function toDelta(block: Anthropic.ContentBlock): object {
  if (block.type === 'text') return { type: 'text_delta', text: block.text };
  const input = block.type === 'tool_use' ? block.input : {};
  return { type: 'input_json_delta', partial_json: JSON.stringify(input) };
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
