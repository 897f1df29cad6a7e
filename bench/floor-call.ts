import { Ajv2020 } from 'ajv/dist/2020.js';
import { NO_OP_INPUT } from './no-op-input.js';

/** The least that a validated call can cost: a compiled validator and an asynchronous function. */
export function floorCall(): (args: unknown) => Promise<string> {
  const validate = new Ajv2020().compile<{ message: string; count: number }>(NO_OP_INPUT);
  const execute = async ({ message }: { message: string }): Promise<string> => message;
  return async (args) => {
    if (!validate(args)) throw new Error('bad arguments');
    return execute(args);
  };
}
