import { describeValue } from '../describe-value.js';
import { isRecord } from '../is-record.js';
import { parseArguments } from '../parse-arguments.js';
import type { RawCall } from '../raw-call.js';

/** An element of `tool_calls`: a function with JSON arguments, or a custom tool with free text. */
export function readToolCall(value: unknown): RawCall {
  if (!isRecord(value)) return { problem: `it is ${describeValue(value)}, a tool call object was expected.` };
  const { id, type, function: wanted, custom } = value;
  if (type === 'custom' && isRecord(custom)) return { id, name: custom.name, text: custom.input };
  if (!isRecord(wanted)) {
    return {
      id,
      problem: `"function" is ${describeValue(wanted)}, an object with "name" and "arguments" was expected.`,
    };
  }
  return parseArguments({ id, name: wanted.name, args: wanted.arguments, argsField: 'arguments' });
}

/** `function_call` of a message, which older models and servers send: one call, without an id. */
export function readLegacyCall(value: unknown): RawCall {
  const origin = { item: 'legacy_function_call' } as const;
  if (!isRecord(value)) {
    return {
      problem: `"function_call" is ${describeValue(value)}, an object with "name" and "arguments" was expected.`,
      origin,
    };
  }
  const { name, arguments: args } = value;
  return { ...parseArguments({ id: undefined, name, args, argsField: 'arguments' }), origin };
}
