import { MockLanguageModelV4 } from 'ai/test';

/** A model that writes new.txt, then says so. */
export function writingModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async ({ prompt }) => {
      const isAnswered = prompt.some(({ role }) => role === 'tool');
      const usage = {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      };
      const input = JSON.stringify({ path: 'new.txt', content: 'new\n' });
      return {
        stream: new ReadableStream({
          start(to) {
            to.enqueue({ type: 'stream-start', warnings: [] });
            if (isAnswered) {
              to.enqueue({ type: 'text-start', id: '1' });
              to.enqueue({ type: 'text-delta', id: '1', delta: 'written' });
              to.enqueue({ type: 'text-end', id: '1' });
            } else to.enqueue({ type: 'tool-call', toolCallId: 'call_1', toolName: 'write_file', input });
            const unified = isAnswered ? 'stop' : 'tool-calls';
            to.enqueue({ type: 'finish', finishReason: { unified, raw: undefined }, usage });
            to.close();
          },
        }),
      };
    },
  });
}
