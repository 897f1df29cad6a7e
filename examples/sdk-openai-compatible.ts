// An agent's loop with any server that speaks OpenAI's chat completions (Ollama, vLLM, llama.cpp, LM Studio and others),
// whole and streamed. A server on this machine plays the model.
import assert from 'node:assert/strict';
// #region loop
import OpenAI from 'openai';
import { createExecutor } from 'toolexec';
import { describeTools, readCalls } from 'toolexec/protocols';
// #endregion loop
import { ANSWER, GREP, openDesk, PROMPT, READ, WRITE } from './fake-model/open-desk.js';
import { serveModel } from './fake-model/serve-model.js';

const { workspace, journal, check, clear } = openDesk();
const messages = [
  { content: null, tool_calls: [toCall('call_1', 'read_file', READ), toCall('call_2', 'grep', GREP)] },
  { content: null, tool_calls: [toCall('call_3', 'write_file', WRITE)] },
  { content: ANSWER },
];
const model = await serveModel([...messages.map(toCompletion), ...messages.map(toChunks)]);
const baseURL = model.url;

// #region loop

// For example http://127.0.0.1:11434/v1 for Ollama, http://127.0.0.1:8000/v1 for vLLM.
const client = new OpenAI({ baseURL, apiKey: 'none' });
await using executor = createExecutor({
  root: workspace,
  journal,
  policy: { allowlist: ['read_file', 'grep', 'write_file'] },
});
const request = {
  model: 'qwen3',
  tools: describeTools('openai', executor.definitions()),
};

type Messages = OpenAI.Chat.ChatCompletionMessageParam[];
const ask = (messages: Messages): Promise<OpenAI.Chat.ChatCompletion> =>
  client.chat.completions.create({ ...request, messages });

async function converse(conversation: string, prompt: string, askModel = ask): Promise<string> {
  const messages: Messages = [{ role: 'user', content: prompt }];
  for (let turn = 0; turn < 20; turn++) {
    const completion = await askModel(messages);
    const message = completion.choices[0]?.message;
    if (message === undefined) throw new Error('The server gave no message.');
    messages.push(message);
    const { calls, errors, answer } = readCalls(completion, { format: 'openai' });
    if (calls.length + errors.length === 0) return message.content ?? '';
    messages.push(...answer(await executor.run(calls, { conversation })));
  }
  throw new Error('The model did not come to an end in 20 turns.');
}
// #endregion loop

// #region stream
const askStreaming = (messages: Messages): Promise<OpenAI.Chat.ChatCompletion> =>
  client.chat.completions
    .stream({ ...request, messages })
    .on('content', (text) => process.stdout.write(text))
    .finalChatCompletion();
// #endregion stream

interface Reply {
  readonly content: string | null;
  readonly tool_calls?: readonly object[];
}

function toCall(id: string, name: string, args: object): object {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}

function toCompletion(message: Reply): object {
  const finish_reason = message.tool_calls === undefined ? 'stop' : 'tool_calls';
  const choice = { index: 0, finish_reason, logprobs: null, message: { role: 'assistant', ...message } };
  return { id: 'chatcmpl_1', object: 'chat.completion', created: 0, model: 'qwen3', choices: [choice] };
}

function toChunks({ content, tool_calls }: Reply): object[] {
  const calls = tool_calls?.map((call, index) => ({ index, ...call }));
  const delta = { role: 'assistant', content, ...(calls === undefined ? {} : { tool_calls: calls }) };
  const finish_reason = calls === undefined ? 'stop' : 'tool_calls';
  return [
    { index: 0, delta, finish_reason: null },
    { index: 0, delta: {}, finish_reason },
  ].map((choice) => ({
    id: 'chatcmpl_1',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'qwen3',
    choices: [choice],
  }));
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
