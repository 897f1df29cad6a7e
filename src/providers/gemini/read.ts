import type { RawCall } from '../raw-call.js';
import { isRecord, toName, toRecords } from '../unknown-value.js';

type Fields = { readonly [key: string]: unknown };

/** Whether input is a response, its content or parts, or the chunks of a stream. */
export function isGemini(input: unknown): boolean {
  return isResponse(input) || isContent(input) || isCallPart(input) || isList(input);
}

export function responseIdOf(input: unknown): string | undefined {
  const response = Array.isArray(input) ? input.find(isResponse) : input;
  return isResponse(response) ? toName(response.responseId ?? response.response_id) : undefined;
}

export function readGemini(input: unknown): readonly RawCall[] {
  if (!Array.isArray(input)) return readContent(input);
  return input.every(isResponse) ? input.flatMap(readContent) : readContent({ parts: input });
}

/** The API leaves out empty fields: a response whose prompt was blocked, or that only counts tokens, has no candidates. */
export function isResponse(input: unknown): input is Fields {
  if (!isRecord(input)) return false;
  const { candidates, promptFeedback, prompt_feedback: spelled, usageMetadata } = input;
  return Array.isArray(candidates) || [promptFeedback, spelled, usageMetadata].some(isRecord);
}

function isContent(input: unknown): boolean {
  return (
    isRecord(input) && Array.isArray(input.parts) && (input.role === undefined || input.role === 'model')
  );
}

export function isCallPart(input: unknown): boolean {
  return isRecord(input) && callOf(input) !== undefined;
}

/** The chunks of a stream without `alt=sse`, or the parts of a content. */
function isList(input: unknown): boolean {
  if (!Array.isArray(input) || input.length === 0) return false;
  return input.every(isResponse) || (input.every(isRecord) && input.some(isCallPart));
}

export function readContent(input: unknown): readonly RawCall[] {
  return callsIn(input).map(toRawCall);
}

/** The calls. Only the first of several candidates counts: the others are alternatives. */
export function callsIn(input: unknown): readonly unknown[] {
  if (!isRecord(input)) return [];
  if (isCallPart(input)) return [callOf(input)];
  const candidates = input.candidates;
  const content = Array.isArray(candidates) ? toRecords(candidates).find(isFirst)?.content : input;
  const parts = isRecord(content) ? toRecords(content.parts) : [];
  return parts.filter(isCallPart).map(callOf);
}

/** The number is left out for a single candidate; a chunk may hold another than the first. */
function isFirst({ index }: Fields): boolean {
  return index === undefined || index === 0;
}

/** In the spelling of the API, or of a library with its own names. */
function callOf({ functionCall, function_call: spelled }: Fields): unknown {
  return functionCall ?? spelled ?? undefined;
}

export function toRawCall(value: unknown): RawCall {
  if (!isRecord(value)) {
    const problem = '"functionCall" was expected to be an object with "name" and "args".';
    return { problem, origin: { unnamed: true } };
  }
  // The API leaves out empty fields.
  const { id, name, args } = value;
  const origin = toName(id) === undefined ? { origin: { unnamed: true } as const } : {};
  return { id, name, args: args ?? {}, argsField: 'args', ...origin };
}
