// An agent in a script: it is watched while it works, asks before it writes, stops in time, and goes on later with what
// its journal knows.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Approver, createExecutor, createToolLoop, type LoopResult } from 'toolexec';
import { openai } from 'toolexec/models';
import { openDesk } from './fake-model/open-desk.js';
import { serveModel } from './fake-model/serve-model.js';
import { speakOpenai } from './fake-model/speak-openai.js';

const { workspace, journal, clear } = openDesk();

const server = await serveModel([
  speakOpenai({
    text: 'I write the report.',
    calls: [{ id: 'call_1', name: 'write_file', args: { path: 'report.md', content: '# Open orders\n' } }],
  }),
  speakOpenai({ text: 'The report is written.' }),
  speakOpenai({ text: 'I wrote report.md.' }),
]);
const model = openai({ model: 'qwen3', baseUrl: server.url });
const approver: Approver = (requests) => ({
  kind: 'approve_selected',
  ids: requests.filter(({ toolName }) => toolName === 'write_file').map(({ callId }) => callId),
});

// #region watch
async function turn(prompt: string): Promise<LoopResult> {
  await using executor = createExecutor({ root: workspace, approver, journal });
  const loop = createToolLoop({ executor, model, system: 'Be brief.', conversation: 'reports' });
  for await (const event of loop.stream(prompt, { signal: AbortSignal.timeout(60_000) })) {
    if (event.type === 'text') process.stdout.write(event.text);
    if (event.type === 'completed') console.log(`\n${event.toolName}: ${event.result.success}`);
    if (event.type === 'end') return event.result;
  }
  throw new Error('a turn ends with an end');
}
// #endregion watch

const first = await turn('Write a report about the open orders.');
assert.deepEqual([first.stopReason, first.iterations, first.text], ['end', 1, 'The report is written.']);
assert.equal(readFileSync(join(workspace, 'report.md'), 'utf8'), '# Open orders\n');

// Another executor, as another process would have: the conversation is in the journal.
const second = await turn('What did you do?');
assert.equal(second.text, 'I wrote report.md.');
assert.match(server.requests[2] ?? '', /The report is written\./);
server.close();
clear();
