import type { KnownTools } from '../known-tools.js';
import type { HistoryShape, Piece } from '../repair/history-shape.js';
import { idOf, listItems, readCallsOfTurn } from '../repair/history-shape.js';
import { isRecord } from '../unknown-value.js';
import { isNative, toNativeCall } from './read.js';
import { writeNative } from './write.js';

/** Our own calls and results in sequence, with anything between them. */
export const nativeHistory: HistoryShape = {
  mayBe: (list, body) => list.length === 0 && Object.keys(body).length === 0,
  speaks: (item) => isCall(item) || isResult(item),
  results: 'items',
  read: (list, tools) => list.map((item, at) => toPiece(item, at, tools)),
  rewrite: ({ value }, edits) => {
    const edit = edits.get(0);
    if (edit === 'drop') return undefined;
    return edit === undefined || !isRecord(value) ? value : { ...value, id: edit.id };
  },
  rename: (result, id) => (isRecord(result) ? { ...result, tool_call_id: id } : result),
  write: (result) => writeNative([result])[0],
  assemble: listItems,
};

type Item = { readonly [key: string]: unknown };

function toPiece(item: unknown, at: number, tools: KnownTools): Piece {
  if (isRecord(item)) {
    if (isResult(item)) {
      return { kind: 'result', at, value: item, id: idOf(item.tool_call_id), name: undefined };
    }
    if (isCall(item)) {
      return { kind: 'turn', at, value: item, calls: readCallsOfTurn([toNativeCall(item)], at, tools) };
    }
    if (item.role === 'assistant') return { kind: 'other', at, value: item, by: 'model' };
  }
  return { kind: 'other', at, value: item, by: 'others' };
}

function isCall(item: Item): boolean {
  return !('role' in item) && !isResult(item) && isNative(item);
}

function isResult(item: Item): boolean {
  return 'tool_call_id' in item && 'success' in item;
}
