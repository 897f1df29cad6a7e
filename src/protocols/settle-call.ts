import type { ToolCall } from '../contract/call.js';
import { describeValue, quote } from './describe-value.js';
import { isRecord } from './is-record.js';
import type { RawCall } from './raw-call.js';
import type { ReadError } from './read-error.js';
import { toJsonObject } from './to-json-object.js';

export type SettledCall =
  | { readonly kind: 'call'; readonly call: ToolCall }
  | { readonly kind: 'error'; readonly error: ReadError };

/** The call, or why it is none. `index` is its place in the response and makes the id that is missing (A022). */
export function settleCall(raw: RawCall, index: number): SettledCall {
  const settled = 'problem' in raw ? raw.problem : checkCall(raw);
  const id = isGiven(raw.id) && typeof raw.id === 'string' ? raw.id : `call_${index}`;
  if (typeof settled !== 'string') return { kind: 'call', call: { id, ...settled } };
  const name = typeof raw.name === 'string' && raw.name !== '' ? raw.name : undefined;
  const subject = name === undefined ? `call ${index + 1}` : `the call of ${quote(name)}`;
  const message = `Cannot read ${subject}: ${settled}`;
  return { kind: 'error', error: { index, id, ...(name === undefined ? {} : { name }), message } };
}

/** The checked parts, or what is wrong with them. */
function checkCall(raw: Exclude<RawCall, { problem: string }>): Omit<ToolCall, 'id'> | string {
  const { id, name, args, argsField, reason } = raw;
  if (typeof name !== 'string' || name === '') {
    return `"name" is ${describeValue(name)}, the name of a tool was expected.`;
  }
  if (isGiven(id) && typeof id !== 'string') {
    return `"id" is ${describeValue(id)}, a string was expected.`;
  }
  if (isGiven(reason) && typeof reason !== 'string') {
    return `"reason" is ${describeValue(reason)}, a string was expected. Leave it out when there is none.`;
  }
  if (!isRecord(args)) {
    return `${quote(argsField)} is ${describeValue(args)}, a JSON object with the arguments was expected. Send {} when there are none.`;
  }
  const copied = toJsonObject(args);
  if ('problem' in copied) return `its arguments are refused: ${copied.problem}.`;
  return { name, args: copied.object, ...(isGiven(reason) ? { reason: String(reason) } : {}) };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
