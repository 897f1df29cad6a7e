// One turn of an agent's loop: a response of any provider in, the next request's message out, in kind.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region turn
import { createExecutor, type Executor } from 'toolexec';
import { answerReadErrors, readCalls, writeResults } from 'toolexec/protocols';

async function answer(executor: Executor, response: unknown): Promise<unknown> {
  const { format, calls, errors } = readCalls(response);
  const results = await executor.run(calls);
  // A call that could not be read is answered in its place, never dropped.
  return writeResults(format, answerReadErrors(results, errors));
}
// #endregion turn

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
writeFileSync(join(workspace, 'a.txt'), 'alpha');
const response = {
  role: 'assistant',
  stop_reason: 'tool_use',
  content: [
    { type: 'text', text: 'Let me look.' },
    { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a.txt' } },
    { type: 'tool_use', id: 'toolu_2', name: 'read_file', input: 'a.txt' },
    { type: 'tool_use', id: 'toolu_3', name: 'read_file', input: { path: '../outside.txt' } },
  ],
};
try {
  await using executor = createExecutor({ root: workspace });
  const message = await answer(executor, response);
  console.log(JSON.stringify(message, null, 2));
  assert.match(JSON.stringify(message), /"tool_use_id":"toolu_1","content":"alpha"/);
  assert.deepEqual(
    [...JSON.stringify(message).matchAll(/"tool_use_id":"(\w+)","content":"(\w+)/g)].map(([, id, start]) => [
      id,
      start,
    ]),
    [
      ['toolu_1', 'alpha'],
      ['toolu_2', 'Error'],
      ['toolu_3', 'Error'],
    ],
  );
} finally {
  rmSync(workspace, { recursive: true });
}
