import type { HostTemplate } from './templates.js';

const AGENT = `import { generateText, isStepCount, type LanguageModel, type ModelMessage } from 'ai';
import type { Executor } from 'toolexec';
import { aiTools } from 'toolexec/ai-sdk';

/** One request of a chat: the model may call tools, and what needs approval comes back as a question. */
export async function answer(
  executor: Executor,
  chat: { readonly id: string; readonly model: LanguageModel; readonly messages: ModelMessage[] },
): Promise<{ text: string; questions: { approvalId: string; reason?: string }[]; messages: ModelMessage[] }> {
  const result = await generateText({
    model: chat.model,
    messages: chat.messages,
    stopWhen: isStepCount(10),
    ...aiTools(executor, { conversation: chat.id }),
  });
  const questions = result.content.filter((part) => part.type === 'tool-approval-request');
  return { text: result.text, questions, messages: [...chat.messages, ...result.responseMessages] };
}
`;

const TEST = `import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ModelMessage } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { answer } from './agent.js';
import { openExecutor } from './executor.js';

const input = JSON.stringify({ path: 'new.txt', content: 'new\\n' });
const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => ({
    content: prompt.some(({ role }) => role === 'tool')
      ? [{ type: 'text', text: 'written' }]
      : [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'write_file', input }],
    finishReason: { unified: 'stop', raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    warnings: [],
  }),
});

test('a call that changes something is asked about, and an approval that is sent twice runs it once', async () => {
  const root = mkdtempSync(join(tmpdir(), 'agent-'));
  const file = join(root, 'new.txt');
  await using executor = openExecutor(root, join(mkdtempSync(join(tmpdir(), 'agent-')), 'journal.db'));
  const chat = { id: 'chat-1', model, messages: [{ role: 'user', content: 'Write new.txt.' } as ModelMessage] };
  const asked = await answer(executor, chat);
  const approvalId = asked.questions[0]?.approvalId ?? '';
  assert.throws(() => readFileSync(file));
  const yes = { type: 'tool-approval-response', approvalId, approved: true } as const;
  const messages: ModelMessage[] = [...asked.messages, { role: 'tool', content: [yes] }];
  for (const _ of [1, 2]) assert.equal((await answer(executor, { ...chat, messages })).text, 'written');
  assert.equal(readFileSync(file, 'utf8'), 'new\\n');
});
`;

export const AI_SDK: HostTemplate = {
  title: 'An agent of the Vercel AI SDK',
  dependencies: { ai: '^7.0.0' },
  files: { 'agent.ts': AGENT, 'agent.test.ts': TEST },
};
