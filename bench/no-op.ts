import { Ajv2020 } from 'ajv/dist/2020.js';
import { toolexec } from './built.js';

const INPUT = {
  type: 'object',
  properties: { message: { type: 'string' }, count: { type: 'integer' } },
  required: ['message', 'count'],
  additionalProperties: false,
} as const;

export const NO_OP_ARGS = { message: 'hello world', count: 3 };

/** A tool that touches nothing. */
export function noOpTool() {
  return toolexec.defineTool({
    name: 'noop',
    description: 'Does nothing.',
    input: INPUT,
    effects: () => [],
    execute: async ({ message }) => message,
  });
}

/** A tool of which nobody knows what it does: its calls have to be claimed before they run. */
export function opaqueTool() {
  return toolexec.defineTool({
    name: 'noop',
    description: 'Does nothing, and does not say so.',
    input: INPUT,
    execute: async ({ message }) => message,
  });
}

export function noOpCalls(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `call_${index}`,
    name: 'noop',
    args: NO_OP_ARGS,
  }));
}

/** The least that a validated call can cost: a compiled validator and an asynchronous function. */
export function floorCall(): (args: unknown) => Promise<string> {
  const validate = new Ajv2020().compile<{ message: string; count: number }>(INPUT);
  const execute = async ({ message }: { message: string }): Promise<string> => message;
  return async (args) => {
    if (!validate(args)) throw new Error('bad arguments');
    return execute(args);
  };
}
