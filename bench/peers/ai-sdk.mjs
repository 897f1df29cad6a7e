import { generateText, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';

/** `generateText`, one step: a model that is not there asks for all calls of a batch at once. */
export function openPeer() {
  const noop = tool({
    description: 'Does nothing.',
    inputSchema: z.object({ message: z.string(), count: z.int() }),
    execute: async ({ message }) => message,
  });
  const callTogether = async (batch) => {
    const { toolResults } = await generateText({
      model: modelThatAsksFor(batch),
      tools: { noop },
      prompt: 'x',
    });
    return toolResults.map(({ output }) => output);
  };
  return { callTogether, call: async (args) => (await callTogether([args]))[0] };
}

// A new one each time: it keeps what it was asked.
function modelThatAsksFor(batch) {
  return new MockLanguageModelV4({
    doGenerate: {
      content: batch.map((args, index) => ({
        type: 'tool-call',
        toolCallId: `call_${index}`,
        toolName: 'noop',
        input: JSON.stringify(args),
      })),
      finishReason: { unified: 'tool-calls', raw: undefined },
      usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
      warnings: [],
    },
  });
}
