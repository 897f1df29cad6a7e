import type { KnownTools } from '../known-tools.js';
import type { HistoryShape, OtherPiece, Piece } from '../repair/history-shape.js';
import { idOf, listItems, readCallsOfTurn } from '../repair/history-shape.js';
import { isRecord, toRecords } from '../unknown-value.js';
import { isCallItem, readItem } from './read.js';
import { writeOutputItem } from './write.js';

/** Input items: an output for each call, after it and before the next message. */
export const openaiResponsesHistory: HistoryShape = {
  bodyKey: 'input',
  maySpeakAlone: true,
  mayBe: (_list, body) => 'input' in body,
  continues: (list, body) =>
    isGiven(body.previous_response_id) ||
    isGiven(body.conversation) ||
    toRecords(list).some(({ type }) => type === 'item_reference'),
  speaks: ({ type }) => typeof type === 'string' && (OUTPUTS.has(type) || ITEMS.has(type)),
  results: 'items',
  read(list, tools) {
    const foreign = idsOfForeignCalls(list);
    return list.map((item, at) => toPiece(item, at, foreign, tools));
  },
  rewrite: ({ value }, edits) => {
    const edit = edits.get(0);
    if (edit === 'drop') return undefined;
    return edit === undefined || !isRecord(value) ? value : { ...value, call_id: edit.id };
  },
  rename: (result, id) =>
    isRecord(result)
      ? { ...result, call_id: id, ...(result.type === 'local_shell_call_output' ? { id } : {}) }
      : result,
  write: writeOutputItem,
  assemble: listItems,
};

type Item = { readonly [key: string]: unknown };

const OUTPUTS: ReadonlySet<unknown> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'shell_call_output',
  'local_shell_call_output',
  'apply_patch_call_output',
]);

const ITEMS: ReadonlySet<unknown> = new Set([
  'function_call',
  'custom_tool_call',
  'shell_call',
  'local_shell_call',
  'apply_patch_call',
  'reasoning',
  'item_reference',
]);

// `isCallItem` narrows the type too far for this.
function isOurs(item: Item): boolean {
  return isCallItem(item);
}

/** Calls that others run, such as a shell in the provider's container. Their outputs are not ours. */
function idsOfForeignCalls(list: readonly unknown[]): ReadonlySet<unknown> {
  const foreign = list.filter((item) => isRecord(item) && !OUTPUTS.has(item.type) && !isOurs(item));
  return new Set(foreign.flatMap((item) => (isRecord(item) ? (idOf(item.call_id) ?? []) : [])));
}

function toPiece(item: unknown, at: number, foreign: ReadonlySet<unknown>, tools: KnownTools): Piece {
  if (!isRecord(item)) return { kind: 'other', at, value: item, by: 'others' };
  if (isOurs(item)) {
    return { kind: 'turn', at, value: item, calls: readCallsOfTurn([readItem(item)], at, tools) };
  }
  const id = idOf(item.call_id) ?? idOf(item.id);
  if (OUTPUTS.has(item.type) && !foreign.has(id)) {
    return { kind: 'result', at, value: item, id, name: undefined };
  }
  return { kind: 'other', at, value: item, by: speakerOf(item) };
}

/** An item without a role comes from the model or the provider. */
function speakerOf({ role }: Item): OtherPiece['by'] {
  return role === undefined || role === 'assistant' ? 'model' : 'others';
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
