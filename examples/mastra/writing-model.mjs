import { MockLanguageModelV4 } from 'ai/test';

const call = {
  ...{ type: 'tool-call', toolCallId: 'call_1', toolName: 'write_file' },
  input: JSON.stringify({ path: 'new.txt', content: 'new\n' }),
};
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** A fake model: it calls `write_file`, and says "written" once it has the answer. */
export const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const isAnswered = prompt.some(({ role }) => role === 'tool');
    const content = [isAnswered ? { type: 'text', text: 'written' } : call];
    const finishReason = { unified: isAnswered ? 'stop' : 'tool-calls', raw: undefined };
    return { content, finishReason, usage, warnings: [] };
  },
});
