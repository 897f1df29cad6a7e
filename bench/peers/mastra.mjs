import { createTool } from '@mastra/core/tools';
import { z } from 'zod';

/** `tool.execute`, which checks the arguments and no more. */
export function openPeer() {
  const noop = createTool({
    id: 'noop',
    description: 'Does nothing.',
    inputSchema: z.object({ message: z.string(), count: z.int() }),
    execute: async ({ message }) => message,
  });
  return { call: (args) => noop.execute(args, {}) };
}
