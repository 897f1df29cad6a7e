import { Agent, Runner, tool, Usage } from '@openai/agents';
import { z } from 'zod';

/** `run`, tracing off: a model that is not there asks for all calls of a batch at once, and is not asked again. */
export function openPeer() {
  const noop = tool({
    name: 'noop',
    description: 'Does nothing.',
    parameters: z.object({ message: z.string(), count: z.int() }),
    execute: async ({ message }) => message,
  });
  const runner = new Runner({ tracingDisabled: true });
  const callTogether = async (batch) => {
    const agent = new Agent({
      name: 'bench',
      model: modelThatAsksFor(batch),
      tools: [noop],
      toolUseBehavior: 'stop_on_first_tool',
    });
    const { newItems } = await runner.run(agent, 'x');
    return newItems.filter(({ type }) => type === 'tool_call_output_item').map(({ output }) => output);
  };
  return { callTogether, call: async (args) => (await callTogether([args]))[0] };
}

function modelThatAsksFor(batch) {
  return {
    async getResponse() {
      const output = batch.map((args, index) => ({
        type: 'function_call',
        callId: `call_${index}`,
        name: 'noop',
        status: 'completed',
        arguments: JSON.stringify(args),
      }));
      return { usage: new Usage(), output };
    },
  };
}
