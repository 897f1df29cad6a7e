// One turn of an agent's loop: a response in, the next request's message out, in the types of the provider's SDK.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region turn
import type Anthropic from '@anthropic-ai/sdk';
import { createExecutor, type Executor } from 'toolexec';
import { readCalls } from 'toolexec/protocols';

async function turn(
  executor: Executor,
  response: Pick<Anthropic.Message, 'role' | 'content' | 'stop_reason'>,
): Promise<readonly Anthropic.MessageParam[]> {
  const { calls, answer } = readCalls(response, { format: 'anthropic' });
  const results = await executor.run(calls);
  // A call that could not be read is answered in its place, never dropped.
  return [{ role: 'assistant', content: response.content }, answer(results)];
}
// #endregion turn

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
writeFileSync(join(workspace, 'a.txt'), 'alpha');
const caller = { type: 'direct' } as const;
const response: Parameters<typeof turn>[1] = {
  role: 'assistant',
  stop_reason: 'tool_use',
  content: [
    { type: 'text', text: 'Let me look.', citations: null },
    { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a.txt' }, caller },
    { type: 'tool_use', id: 'toolu_2', name: 'read_file', input: 'a.txt', caller },
    { type: 'tool_use', id: 'toolu_3', name: 'read_file', input: { path: '../outside.txt' }, caller },
  ],
};
try {
  await using executor = createExecutor({ root: workspace });
  const [, message] = await turn(executor, response);
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
