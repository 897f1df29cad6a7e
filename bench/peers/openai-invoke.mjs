import { invokeFunctionTool, RunContext, tool } from '@openai/agents';
import { z } from 'zod';

/** `invokeFunctionTool`, which reads and checks the arguments and no more. */
export function openPeer() {
  const noop = tool({
    name: 'noop',
    description: 'Does nothing.',
    parameters: z.object({ message: z.string(), count: z.int() }),
    execute: async ({ message }) => message,
  });
  const runContext = new RunContext();
  return { call: (args) => invokeFunctionTool({ tool: noop, runContext, input: JSON.stringify(args) }) };
}
