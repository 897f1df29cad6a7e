import type { ToolResult } from '../../contract/result.js';
import { isRecord, toRecords } from '../is-record.js';
import type { RawCall } from '../raw-call.js';
import { toModelText } from '../to-model-text.js';
import type { WireProtocol } from '../wire-protocol.js';
import { isFunctionCall, toRawCall } from './function-call-item.js';
import { createOpenaiResponsesAssembler } from './openai-responses-assembler.js';

/** A response or its output items with `function_call` in; the `function_call_output` items out. */
export const openaiResponsesProtocol: WireProtocol = {
  recognises: (input) => isResponse(input) || isOutput(input) || isFunctionCall(input),
  read: readOpenaiResponses,
  write: (results) => results.map(toOutputItem),
  createAssembler: createOpenaiResponsesAssembler,
};

export interface OpenaiFunctionOutput {
  readonly type: 'function_call_output';
  readonly call_id: string;
  readonly output: string;
}

const ITEM_TYPES: ReadonlySet<unknown> = new Set(['message', 'reasoning', 'function_call']);

function readOpenaiResponses(input: unknown): readonly RawCall[] {
  const items = isResponse(input) ? input.output : input;
  return toRecords(Array.isArray(items) ? items : [items])
    .filter(isFunctionCall)
    .map(toRawCall);
}

function isResponse(input: unknown): input is { readonly [key: string]: unknown } {
  if (!isRecord(input) || !Array.isArray(input.output)) return false;
  return input.object === 'response' || input.output.length === 0 || isOutput(input.output);
}

function isOutput(input: unknown): boolean {
  if (!Array.isArray(input) || input.length === 0) return false;
  const items = toRecords(input);
  if (items.length < input.length) return false;
  return items.some(isFunctionCall) || items.every((item) => ITEM_TYPES.has(item.type));
}

function toOutputItem(result: ToolResult): OpenaiFunctionOutput {
  return { type: 'function_call_output', call_id: result.callId, output: toModelText(result) };
}
