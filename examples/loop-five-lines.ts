// An agent in five lines: a model, its tools, and the answer. A server on this machine plays the model.
import assert from 'node:assert/strict';
// #region agent
import { createExecutor, createToolLoop } from 'toolexec';
import { openai } from 'toolexec/models';
// #endregion agent
import { openDesk, READ } from './fake-model/open-desk.js';
import { serveModel } from './fake-model/serve-model.js';
import { speakOpenai } from './fake-model/speak-openai.js';

const { workspace, clear } = openDesk();
const server = await serveModel([
  speakOpenai({ calls: [{ id: 'call_1', name: 'read_file', args: READ }] }),
  speakOpenai({ text: 'Two orders are open.' }),
]);
const baseUrl = server.url;

// #region agent

await using executor = createExecutor({ root: workspace });
const loop = createToolLoop({ executor, model: openai({ model: 'qwen3', baseUrl }) });
const { text } = await loop.run('How many orders are open?');
// #endregion agent

server.close();
clear();
assert.equal(text, 'Two orders are open.');
assert.match(server.requests[1] ?? '', /Cleo,open/);
