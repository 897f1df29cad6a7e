import type { KnownTools } from '../known-tools.js';
import type { CallEdits, HistoryShape, Piece, TurnPiece } from '../repair/history-shape.js';
import { idOf, isMessage, listItems, readCallsOfTurn } from '../repair/history-shape.js';
import { isRecord } from '../unknown-value.js';
import { readOpenai } from './read.js';
import { writeOpenai } from './write.js';

/** Chat messages: one of role `tool` for each call, directly after the message with the calls. */
export const openaiHistory: HistoryShape = {
  bodyKey: 'messages',
  mayBe: (list, body) =>
    list.length === 0 ? 'messages' in body : list.every(isPlainMessage) && !('system' in body),
  speaks: (message) => isResult(message) || holdsCalls(message),
  results: 'messages',
  read: (list, tools) => list.map((message, at) => toPiece(message, at, tools)),
  rewrite,
  rename: (result, id) => (isRecord(result) ? { ...result, tool_call_id: id } : result),
  write: writeOpenai,
  assemble: listItems,
};

type Message = { readonly [key: string]: unknown };

function toPiece(message: unknown, at: number, tools: KnownTools): Piece {
  if (!isRecord(message)) return { kind: 'other', at, value: message, by: 'others' };
  if (isResult(message)) {
    const name = idOf(message.name);
    return { kind: 'result', at, value: message, id: idOf(message.tool_call_id), name };
  }
  if (holdsCalls(message)) {
    const calls = readCallsOfTurn(readOpenai(message), at, tools);
    return { kind: 'turn', at, value: message, calls };
  }
  return { kind: 'other', at, value: message, by: message.role === 'assistant' ? 'model' : 'others' };
}

function isResult({ role }: Message): boolean {
  return role === 'tool' || role === 'function';
}

function holdsCalls({ role, tool_calls: calls, function_call: legacy }: Message): boolean {
  if (role !== 'assistant') return false;
  return (Array.isArray(calls) && calls.length > 0) || isRecord(legacy);
}

function rewrite({ value }: TurnPiece, edits: CallEdits): unknown {
  if (!isRecord(value) || !Array.isArray(value.tool_calls)) return value;
  const calls = value.tool_calls.flatMap((call: unknown, index) => {
    const edit = edits.get(index);
    if (edit === undefined) return [call];
    return edit === 'drop' ? [] : [isRecord(call) ? { ...call, id: edit.id } : call];
  });
  const { tool_calls: _, ...rest } = value;
  // The provider rejects an empty list, and an empty message.
  if (calls.length > 0) return { ...value, tool_calls: calls };
  return isEmpty(rest.content) && isEmpty(rest.refusal) && !isRecord(rest.audio) ? undefined : rest;
}

function isEmpty(content: unknown): boolean {
  return (
    content === undefined ||
    content === null ||
    content === '' ||
    (Array.isArray(content) && content.length === 0)
  );
}

/** A list of blocks is more common in other formats; without calls it makes no difference. */
function isPlainMessage(element: unknown): boolean {
  return isRecord(element) && isMessage(element) && !Array.isArray(element.content);
}
