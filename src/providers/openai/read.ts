import { parseArguments, type RawCall } from '../raw-call.js';
import { describeValue, isRecord, toName, toRecords } from '../unknown-value.js';

type Message = { readonly [key: string]: unknown };

/** Whether input is a completion or its message. */
export function isOpenai(input: unknown): boolean {
  return isRecord(input) && (Array.isArray(input.choices) || isMessage(input));
}

/** The id of a completion, whole or in chunks; a message has none. */
export function completionIdOf(input: unknown): string | undefined {
  return isRecord(input) && Array.isArray(input.choices) ? toName(input.id) : undefined;
}

export function readOpenai(input: unknown): readonly RawCall[] {
  const { tool_calls: calls, function_call: legacy } = toMessage(input) ?? {};
  if (Array.isArray(calls) && calls.length > 0) return calls.map(wasCut(input) ? readCutCall : readToolCall);
  return legacy === undefined || legacy === null ? [] : [readLegacyCall(legacy)];
}

/** Only the first of several choices counts: the others are alternatives. */
function toMessage(input: unknown): Message | undefined {
  if (!isRecord(input)) return undefined;
  if (!Array.isArray(input.choices)) return input;
  const message = toRecords(input.choices)[0]?.message;
  return isRecord(message) ? message : undefined;
}

function wasCut(input: unknown): boolean {
  return isRecord(input) && toRecords(input.choices)[0]?.finish_reason === 'length';
}

export const CUT_OFF =
  'the response was cut off (finish_reason "length") before its arguments. Send it again, shorter.';

/** A call of an interrupted response: without text, its arguments had not begun. */
function readCutCall(value: unknown): RawCall {
  const raw = readToolCall(value);
  return 'args' in raw && raw.args === undefined ? { id: raw.id, name: raw.name, problem: CUT_OFF } : raw;
}

function isMessage({ role, content, tool_calls: calls, function_call: legacy }: Message): boolean {
  if (role !== undefined && role !== 'assistant') return false;
  if (Array.isArray(calls)) return true;
  return role === 'assistant' && (typeof content === 'string' || content === null || isRecord(legacy));
}

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

/** `function_call` of older models and servers: one call without an id. */
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
