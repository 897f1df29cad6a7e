// A streamed response of Anthropic: its events in, the next request's message out. Here the events are recorded ones.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region stream
import type Anthropic from '@anthropic-ai/sdk';
import { createExecutor, type Executor } from 'toolexec';
import { createCallStream } from 'toolexec/protocols';

/** @param events what `anthropic.messages.create({ …, stream: true })` resolves to. */
async function answerStream(
  executor: Executor,
  events: AsyncIterable<Anthropic.RawMessageStreamEvent>,
): Promise<Anthropic.MessageParam> {
  const stream = createCallStream('anthropic');
  for await (const event of events) stream.push(event);
  const { calls, answer } = stream.end();
  return answer(await executor.run(calls));
}
// #endregion stream

async function* recorded(): AsyncGenerator<Anthropic.RawMessageStreamEvent> {
  const caller = { type: 'direct' } as const;
  yield {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '', citations: null },
  };
  yield { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I will look.' } };
  yield { type: 'content_block_stop', index: 0 };
  for (const [index, path] of [
    [1, '"notes.txt"'],
    [2, '"missing.txt"'],
    [3, '42'],
  ] as const) {
    const use = { type: 'tool_use', id: `toolu_${index}`, name: 'read_file', input: {}, caller } as const;
    yield { type: 'content_block_start', index, content_block: use };
    for (const partial_json of ['', '{"path":', `${path}}`]) {
      yield { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } };
    }
    yield { type: 'content_block_stop', index };
  }
  yield { type: 'message_stop' };
}

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
writeFileSync(join(workspace, 'notes.txt'), 'buy milk\n');
try {
  await using executor = createExecutor({ root: workspace });
  const message = await answerStream(executor, recorded());
  console.log(JSON.stringify(message, null, 2));
  assert.deepEqual(JSON.parse(JSON.stringify(message)).content[0], {
    type: 'tool_result',
    tool_use_id: 'toolu_1',
    content: 'buy milk\n',
  });
  assert.equal(message.content.length, 3);
} finally {
  rmSync(workspace, { recursive: true });
}
