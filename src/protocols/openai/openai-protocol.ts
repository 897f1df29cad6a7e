import { isRecord, toName, toRecords } from '../is-record.js';
import type { RawCall } from '../raw-call.js';
import type { WireProtocol } from '../wire-protocol.js';
import { createOpenaiAssembler } from './openai-assembler.js';
import { readLegacyCall, readToolCall } from './read-tool-call.js';
import { writeOpenai } from './write-openai.js';

/** A chat completion or its message with `tool_calls` in; the messages of role `tool` out. */
export const openaiProtocol: WireProtocol<'openai'> = {
  recognises: (input) => isRecord(input) && (Array.isArray(input.choices) || isMessage(input)),
  // That of a completion, whole or in chunks; a message has none.
  idOf: (input) => (isRecord(input) && Array.isArray(input.choices) ? toName(input.id) : undefined),
  read: readOpenai,
  write: (results, originOf) => results.map((result) => writeOpenai(result, originOf(result.callId))),
  createAssembler: createOpenaiAssembler,
  recognisesEvent: (event) =>
    isRecord(event) &&
    Array.isArray(event.choices) &&
    (event.object === 'chat.completion.chunk' ||
      toRecords(event.choices).some(({ delta }) => isRecord(delta))),
};

type Message = { readonly [key: string]: unknown };

function readOpenai(input: unknown): readonly RawCall[] {
  const { tool_calls: calls, function_call: legacy } = toMessage(input) ?? {};
  if (Array.isArray(calls) && calls.length > 0) return calls.map(readToolCall);
  return legacy === undefined || legacy === null ? [] : [readLegacyCall(legacy)];
}

/** Of several choices the first: the others are alternatives to it. */
function toMessage(input: unknown): Message | undefined {
  if (!isRecord(input)) return undefined;
  if (!Array.isArray(input.choices)) return input;
  const message = toRecords(input.choices)[0]?.message;
  return isRecord(message) ? message : undefined;
}

function isMessage({ role, content, tool_calls: calls, function_call: legacy }: Message): boolean {
  if (role !== undefined && role !== 'assistant') return false;
  if (Array.isArray(calls)) return true;
  return role === 'assistant' && (typeof content === 'string' || content === null || isRecord(legacy));
}
