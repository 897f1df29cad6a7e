import type { JsonObject } from '../../contract/json.js';
import type { ToolResult } from '../../contract/result.js';
import { isRecord, toRecords } from '../is-record.js';
import type { RawCall } from '../raw-call.js';
import { toModelText } from '../to-model-text.js';
import type { WireProtocol } from '../wire-protocol.js';

/** A response or its content with `functionCall` parts in; the content with `functionResponse` parts out. */
export const geminiProtocol: WireProtocol = {
  recognises: (input) => isRecord(input) && (Array.isArray(input.candidates) || isContent(input)),
  read: readGemini,
  write: (results) => ({ role: 'user', parts: results.map(toPart) }),
  // A chunk of the stream is a response whose parts are whole.
  createAssembler: () => ({ push: readGemini, end: () => [] }),
};

export interface GeminiFunctionResponse {
  readonly functionResponse: { readonly id: string; readonly name: string; readonly response: JsonObject };
}

/** Of several candidates the first: the others are alternatives to it. */
function readGemini(input: unknown): readonly RawCall[] {
  if (!isRecord(input)) return [];
  const candidates = input.candidates;
  const content = Array.isArray(candidates) ? toRecords(candidates)[0]?.content : input;
  const parts = isRecord(content) ? toRecords(content.parts) : [];
  return parts
    .filter((part) => part.functionCall !== undefined)
    .map(({ functionCall }) => toRawCall(functionCall));
}

function isContent(input: { readonly [key: string]: unknown }): boolean {
  return Array.isArray(input.parts) && (input.role === undefined || input.role === 'model');
}

function toRawCall(value: unknown): RawCall {
  if (!isRecord(value))
    return { problem: '"functionCall" was expected to be an object with "name" and "args".' };
  // The API leaves out what is empty.
  const { id, name, args = {} } = value;
  return { id, name, args, argsField: 'args' };
}

function toPart(result: ToolResult): GeminiFunctionResponse {
  const text = toModelText(result);
  const response = result.success ? { output: text } : { error: text };
  return { functionResponse: { id: result.callId, name: result.toolName, response } };
}
