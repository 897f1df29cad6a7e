// A streamed response of Gemini: its chunks in, the next request's content out. Gemini may leave out the ids of calls: they
// are numbered here, belong to their response, and stay out of the answer. Here the chunks are recorded ones.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region stream
import type { Content, GenerateContentResponse } from '@google/genai';
import { createExecutor, type Executor } from 'toolexec';
import { createCallStream } from 'toolexec/protocols';

/** @param chunks what `ai.models.generateContentStream({ … })` resolves to. */
async function answerStream(
  executor: Executor,
  chunks: AsyncIterable<Pick<GenerateContentResponse, 'candidates' | 'responseId'>>,
): Promise<Content> {
  const stream = createCallStream('gemini');
  for await (const chunk of chunks) stream.push(chunk);
  const { calls, answer } = stream.end();
  // In a named conversation: a response that is delivered again is answered from the journal, another one is not.
  return answer(await executor.run(calls, { conversation: 'thread-7' }));
}
// #endregion stream

async function* recorded(responseId: string) {
  yield { responseId, candidates: [{ content: { role: 'model', parts: [{ text: 'I will look.' }] } }] };
  const functionCall = { name: 'read_file', args: { path: 'notes.txt' } };
  yield { responseId, candidates: [{ content: { role: 'model', parts: [{ functionCall }] } }] };
}

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const notes = join(workspace, 'notes.txt');
writeFileSync(notes, 'buy milk\n');
try {
  await using executor = createExecutor({ root: workspace });
  const first = await answerStream(executor, recorded('response-1'));
  writeFileSync(notes, 'buy bread\n');
  const second = await answerStream(executor, recorded('response-2'));
  const again = await answerStream(executor, recorded('response-1'));
  console.log(JSON.stringify([first, second], null, 2));
  const content = (output: string): Content => ({
    role: 'user',
    parts: [{ functionResponse: { name: 'read_file', response: { output } } }],
  });
  assert.deepEqual([first, second, again], ['buy milk\n', 'buy bread\n', 'buy milk\n'].map(content));
} finally {
  rmSync(workspace, { recursive: true });
}
