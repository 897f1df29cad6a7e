import type { ToolResult } from '../../contract/result.js';
import { describeValue } from '../describe-value.js';
import { isRecord, toRecords } from '../is-record.js';
import { parseArguments } from '../parse-arguments.js';
import type { RawCall } from '../raw-call.js';
import { toModelText } from '../to-model-text.js';
import type { WireProtocol } from '../wire-protocol.js';
import { createOpenaiAssembler } from './openai-assembler.js';

/** A chat completion or its message with `tool_calls` in; the messages of role `tool` out. */
export const openaiProtocol: WireProtocol = {
  recognises: (input) => isRecord(input) && (Array.isArray(input.choices) || isMessage(input)),
  read: (input) => {
    const calls = toMessage(input)?.tool_calls;
    return Array.isArray(calls) ? calls.map(toRawCall) : [];
  },
  write: (results) => results.map(toMessageOf),
  createAssembler: createOpenaiAssembler,
};

export interface OpenaiToolMessage {
  readonly role: 'tool';
  readonly tool_call_id: string;
  readonly content: string;
}

type Message = { readonly [key: string]: unknown };

/** Of several choices the first: the others are alternatives to it. */
function toMessage(input: unknown): Message | undefined {
  if (!isRecord(input)) return undefined;
  if (!Array.isArray(input.choices)) return input;
  const message = toRecords(input.choices)[0]?.message;
  return isRecord(message) ? message : undefined;
}

function isMessage(input: Message): boolean {
  const { role, content, tool_calls: calls } = input;
  if (role !== undefined && role !== 'assistant') return false;
  return Array.isArray(calls) || (role === 'assistant' && (typeof content === 'string' || content === null));
}

function toRawCall(value: unknown): RawCall {
  if (!isRecord(value)) return { problem: `it is ${describeValue(value)}, a tool call object was expected.` };
  const { id, function: wanted } = value;
  if (!isRecord(wanted)) {
    return {
      id,
      problem: `"function" is ${describeValue(wanted)}, an object with "name" and "arguments" was expected.`,
    };
  }
  return parseArguments({ id, name: wanted.name, args: wanted.arguments, argsField: 'arguments' });
}

function toMessageOf(result: ToolResult): OpenaiToolMessage {
  return { role: 'tool', tool_call_id: result.callId, content: toModelText(result) };
}
