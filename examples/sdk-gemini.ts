// An agent's loop with Google's SDK for Gemini, whole and streamed. A server on this machine plays the model.
import assert from 'node:assert/strict';
// #region loop
import { type Content, GoogleGenAI } from '@google/genai';
import { createExecutor } from 'toolexec';
import { createCallStream, describeTools, readCalls } from 'toolexec/protocols';
// #endregion loop
import { ANSWER, GREP, openDesk, PROMPT, READ, WRITE } from './fake-model/open-desk.js';
import { serveModel } from './fake-model/serve-model.js';

const { workspace, journal, check, clear } = openDesk();
const turns = [
  [{ functionCall: { name: 'read_file', args: READ } }, { functionCall: { name: 'grep', args: GREP } }],
  [{ functionCall: { name: 'write_file', args: WRITE } }],
  [{ text: ANSWER }],
];
const model = await serveModel([
  ...turns.map((parts, index) => toResponse(`whole-${index}`, parts)),
  ...turns.map((parts, index) => parts.map((part) => toResponse(`streamed-${index}`, [part]))),
]);
process.env.GOOGLE_GEMINI_BASE_URL = model.url;
process.env.GEMINI_API_KEY = 'not-a-key';

// #region loop

const ai = new GoogleGenAI({ apiKey: `${process.env.GEMINI_API_KEY}` });
await using executor = createExecutor({
  root: workspace,
  journal,
  policy: { allowlist: ['read_file', 'grep', 'write_file'] },
});
const request = {
  model: 'gemini-2.5-flash',
  config: { tools: describeTools('gemini', executor.definitions()) },
};

/** Returns the model's message for the history, and its calls. */
async function ask(contents: Content[]) {
  const response = await ai.models.generateContent({ ...request, contents });
  return {
    said: response.candidates?.[0]?.content ?? { role: 'model' },
    read: readCalls(response, { format: 'gemini' }),
  };
}

async function converse(conversation: string, prompt: string, askModel = ask): Promise<string> {
  const contents: Content[] = [{ role: 'user', parts: [{ text: prompt }] }];
  for (let turn = 0; turn < 20; turn++) {
    const { said, read } = await askModel(contents);
    contents.push(said);
    if (read.calls.length + read.errors.length === 0) {
      return said.parts?.map(({ text = '' }) => text).join('') ?? '';
    }
    contents.push(read.answer(await executor.run(read.calls, { conversation })));
  }
  throw new Error('The model did not come to an end in 20 turns.');
}
// #endregion loop

// #region stream
async function askStreaming(contents: Content[]) {
  const stream = createCallStream('gemini');
  const said: Content = { role: 'model', parts: [] };
  for await (const chunk of await ai.models.generateContentStream({ ...request, contents })) {
    stream.push(chunk);
    const parts = chunk.candidates?.[0]?.content?.parts ?? [];
    said.parts?.push(...parts);
    for (const { text = '' } of parts) process.stdout.write(text);
  }
  return { said, read: stream.end() };
}
// #endregion stream

function toResponse(responseId: string, parts: readonly object[]): object {
  return { responseId, candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts } }] };
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
