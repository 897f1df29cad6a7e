import { tool } from '@langchain/core/tools';
import { z } from 'zod';

/** `tool().invoke` with a tool call of a model, which answers a ToolMessage. */
export function openPeer() {
  const noop = tool(async ({ message }) => message, {
    name: 'noop',
    description: 'Does nothing.',
    schema: z.object({ message: z.string(), count: z.int() }),
  });
  return {
    async call(args) {
      const { content } = await noop.invoke({ type: 'tool_call', id: 'call_0', name: 'noop', args });
      return content;
    },
  };
}
