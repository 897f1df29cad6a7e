// A streamed response of OpenAI's Responses API: its events in, the next request's items out, each of the kind that asked:
// a call of OpenAI's own shell is answered as one. Here the events are recorded ones.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region stream
import type OpenAI from 'openai';
import { createExecutor, type Executor } from 'toolexec';
import { createCallStream } from 'toolexec/protocols';

/** @param events what `openai.responses.create({ …, stream: true })` resolves to. */
async function answerStream(
  executor: Executor,
  events: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>,
): Promise<OpenAI.Responses.ResponseInputItem[]> {
  const stream = createCallStream('openai-responses');
  for await (const event of events) stream.push(event);
  const { calls, answer } = stream.end();
  return answer(await executor.run(calls));
}
// #endregion stream

async function* recorded(): AsyncGenerator<OpenAI.Responses.ResponseStreamEvent> {
  const items: OpenAI.Responses.ResponseOutputItem[] = [
    {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_a',
      name: 'read_file',
      arguments: '{"path":"notes.txt"}',
      status: 'completed',
    },
    {
      type: 'shell_call',
      id: 'sh_1',
      call_id: 'call_b',
      action: { commands: ['wc -c < notes.txt'], timeout_ms: 5000, max_output_length: 4096 },
      environment: { type: 'local' },
      status: 'completed',
    },
  ];
  for (const [index, item] of items.entries()) {
    yield { type: 'response.output_item.added', output_index: index, sequence_number: 2 * index, item };
    yield { type: 'response.output_item.done', output_index: index, sequence_number: 2 * index + 1, item };
  }
}

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
writeFileSync(join(workspace, 'notes.txt'), 'buy milk\n');
try {
  await using executor = createExecutor({ root: workspace, approver: () => ({ kind: 'approve_all' }) });
  const items = await answerStream(executor, recorded());
  console.log(JSON.stringify(items, null, 2));
  assert.deepEqual(items, [
    { type: 'function_call_output', call_id: 'call_a', output: 'buy milk\n' },
    {
      type: 'shell_call_output',
      call_id: 'call_b',
      output: [{ stdout: '9\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      max_output_length: 4096,
    },
  ]);
} finally {
  rmSync(workspace, { recursive: true });
}
