// An agent of the Vercel AI SDK with the executor's tools: a call that changes something asks first, and runs once.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateText, type ModelMessage } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { createExecutor } from 'toolexec';
import { aiTools } from 'toolexec/ai-sdk';

const root = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const input = JSON.stringify({ path: 'new.txt', content: 'new\n' });
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
await using executor = createExecutor({ root });
const messages: ModelMessage[] = [{ role: 'user', content: 'Write new.txt.' }];
const chatId = 'thread-7';
// #region tools
const options = { model, messages, ...aiTools(executor, { conversation: chatId }) };
// #endregion tools
const asked = await generateText(options);
assert.equal(existsSync(join(root, 'new.txt')), false);
const request = asked.content.find((part) => part.type === 'tool-approval-request') ?? assert.fail();
const answer = { type: 'tool-approval-response', approvalId: request.approvalId, approved: true } as const;
messages.push(...asked.responseMessages, { role: 'tool', content: [answer] });
assert.equal((await generateText(options)).text, 'written');
assert.ok(existsSync(join(root, 'new.txt')));
rmSync(root, { recursive: true });
