// A streamed chat completion of OpenAI: its chunks in, the next request's messages out. Here the chunks are recorded ones.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region stream
import type OpenAI from 'openai';
import { createExecutor, type Executor } from 'toolexec';
import { createCallStream } from 'toolexec/protocols';

/** @param chunks what `openai.chat.completions.create({ …, stream: true })` resolves to. */
async function answerStream(
  executor: Executor,
  chunks: AsyncIterable<OpenAI.Chat.ChatCompletionChunk>,
): Promise<OpenAI.Chat.ChatCompletionMessageParam[]> {
  const stream = createCallStream('openai');
  for await (const chunk of chunks) stream.push(chunk);
  const { calls, answer } = stream.end();
  return answer(await executor.run(calls));
}
// #endregion stream

type Choice = OpenAI.Chat.ChatCompletionChunk.Choice;

async function* recorded(): AsyncGenerator<OpenAI.Chat.ChatCompletionChunk> {
  const chunk = (delta: Choice['delta'], finish_reason: Choice['finish_reason'] = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk' as const,
    created: 1_700_000_000,
    model: 'gpt-5',
    choices: [{ index: 0, delta, finish_reason }],
  });
  yield chunk({ role: 'assistant', content: '' });
  for (const [index, id] of ['call_a', 'call_b'].entries()) {
    yield chunk({
      tool_calls: [{ index, id, type: 'function', function: { name: 'read_file', arguments: '' } }],
    });
  }
  // The pieces of calls may come in any order: each says which call it belongs to.
  yield chunk({ tool_calls: [{ index: 1, function: { arguments: '{"path":"missing.txt"}' } }] });
  yield chunk({ tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] });
  yield chunk({ tool_calls: [{ index: 0, function: { arguments: '"notes.txt"}' } }] });
  yield chunk({}, 'tool_calls');
}

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
writeFileSync(join(workspace, 'notes.txt'), 'buy milk\n');
try {
  await using executor = createExecutor({ root: workspace });
  const messages = await answerStream(executor, recorded());
  console.log(JSON.stringify(messages, null, 2));
  assert.deepEqual(messages[0], { role: 'tool', tool_call_id: 'call_a', content: 'buy milk\n' });
  assert.equal(messages.length, 2);
} finally {
  rmSync(workspace, { recursive: true });
}
