import { isRecord, toName, toRecords } from '../is-record.js';
import type { RawCall } from '../raw-call.js';
import type { WireProtocol } from '../wire-protocol.js';
import { writeGemini } from './write-gemini.js';

/** A response or its content with `functionCall` parts in; the content with `functionResponse` parts out. */
export const geminiProtocol: WireProtocol<'gemini'> = {
  recognises: (input) => isResponse(input) || isContent(input) || isCallPart(input) || isList(input),
  idOf: (input) => {
    const response = Array.isArray(input) ? input.find(isResponse) : input;
    return isResponse(response) ? toName(response.responseId ?? response.response_id) : undefined;
  },
  read: (input) => (Array.isArray(input) ? readList(input) : readGemini(input)),
  write: writeGemini,
  // A chunk of the stream is a response whose parts are whole.
  createAssembler: () => ({ push: readGemini, end: () => [] }),
  recognisesEvent: isResponse,
};

type Fields = { readonly [key: string]: unknown };

function isResponse(input: unknown): input is Fields {
  return isRecord(input) && Array.isArray(input.candidates);
}

function isContent(input: unknown): boolean {
  return (
    isRecord(input) && Array.isArray(input.parts) && (input.role === undefined || input.role === 'model')
  );
}

export function isCallPart(input: unknown): boolean {
  return isRecord(input) && callOf(input) !== undefined;
}

/** The chunks of a stream, as it comes without `alt=sse`, or the parts of a content. */
function isList(input: unknown): boolean {
  if (!Array.isArray(input) || input.length === 0) return false;
  return input.every(isResponse) || (input.every(isRecord) && input.some(isCallPart));
}

function readList(input: readonly unknown[]): readonly RawCall[] {
  return input.every(isResponse) ? input.flatMap(readGemini) : readGemini({ parts: input });
}

/** Of several candidates the first: the others are alternatives to it. */
function readGemini(input: unknown): readonly RawCall[] {
  if (!isRecord(input)) return [];
  if (isCallPart(input)) return [toRawCall(callOf(input))];
  const candidates = input.candidates;
  const content = Array.isArray(candidates) ? toRecords(candidates).find(isFirst)?.content : input;
  const parts = isRecord(content) ? toRecords(content.parts) : [];
  return parts.filter(isCallPart).map((part) => toRawCall(callOf(part)));
}

/** The number is left out where there is one alone; a chunk may hold another than the first. */
function isFirst({ index }: Fields): boolean {
  return index === undefined || index === 0;
}

/** In the spelling of the API, or that of a library that prints its own names. */
function callOf({ functionCall, function_call: spelled }: Fields): unknown {
  return functionCall ?? spelled ?? undefined;
}

function toRawCall(value: unknown): RawCall {
  if (!isRecord(value)) {
    const problem = '"functionCall" was expected to be an object with "name" and "args".';
    return { problem, origin: { unnamed: true } };
  }
  // The API leaves out what is empty.
  const { id, name, args } = value;
  const origin = toName(id) === undefined ? { origin: { unnamed: true } as const } : {};
  return { id, name, args: args ?? {}, argsField: 'args', ...origin };
}
