import { isRecord, toName, toRecords } from '../is-record.js';
import type { RawCall } from '../raw-call.js';
import type { WireProtocol } from '../wire-protocol.js';
import { isCallItem, readItem } from './item.js';
import { createOpenaiResponsesAssembler } from './openai-responses-assembler.js';
import { writeOutputItem } from './write-output-item.js';

/** A response or its output items in, those that ask for a call; an output item of the same kind for each out. */
export const openaiResponsesProtocol: WireProtocol<'openai-responses'> = {
  recognises: (input) => isResponse(input) || isOutput(input) || isCallItem(input),
  // Events hold the response itself; items have ids of their own.
  idOf: (input) => {
    const response = isRecord(input) && isRecord(input.response) ? input.response : input;
    return isRecord(response) && Array.isArray(response.output) ? toName(response.id) : undefined;
  },
  read: readOpenaiResponses,
  write: (results, originOf) => results.map((result) => writeOutputItem(result, originOf(result.callId))),
  createAssembler: createOpenaiResponsesAssembler,
  recognisesEvent: (event) =>
    isRecord(event) && typeof event.type === 'string' && event.type.startsWith('response.'),
};

const ITEM_TYPES: ReadonlySet<unknown> = new Set(['message', 'reasoning', 'shell_call', 'shell_call_output']);

function readOpenaiResponses(input: unknown): readonly RawCall[] {
  const items = isResponse(input) ? input.output : input;
  const all = toRecords(Array.isArray(items) ? items : [items]);
  // What already has its output there was run by the provider, or in an earlier turn.
  const answered = new Set(all.filter(isOutputOfCall).map((item) => item.call_id));
  return all.filter((item) => isCallItem(item) && !answered.has(item.call_id)).map(readItem);
}

function isOutputOfCall({ type, call_id: id }: { readonly [key: string]: unknown }): boolean {
  return typeof type === 'string' && type.endsWith('_output') && typeof id === 'string';
}

function isResponse(input: unknown): input is { readonly [key: string]: unknown } {
  if (!isRecord(input) || !Array.isArray(input.output)) return false;
  return input.object === 'response' || input.output.length === 0 || isOutput(input.output);
}

function isOutput(input: unknown): boolean {
  if (!Array.isArray(input) || input.length === 0) return false;
  const items = toRecords(input);
  if (items.length < input.length) return false;
  return items.some(isCallItem) || items.every((item) => ITEM_TYPES.has(item.type));
}
