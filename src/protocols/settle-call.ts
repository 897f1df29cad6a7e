import type { ToolCall } from '../contract/call.js';
import type { CallOrigin } from './call-origin.js';
import { describeValue, quote } from './describe-value.js';
import { isRecord, toName } from './is-record.js';
import type { KnownTools } from './known-tools.js';
import type { AskedCall, RawCall, TextCall } from './raw-call.js';
import type { ReadError } from './read-error.js';
import { toJsonObject } from './to-json-object.js';

export type SettledCall = (
  | { readonly kind: 'call'; readonly call: ToolCall }
  | { readonly kind: 'error'; readonly error: ReadError }
) & {
  readonly origin?: CallOrigin;
  /** The response gave no id. */
  readonly madeUp?: true;
};

/**
 * The call, or why it is none. `index` is its place in the response and makes the id that is missing (A022), which then
 * belongs to `turn`: the response's own id, where it has one.
 */
export function settleCall(raw: RawCall, index: number, tools: KnownTools, turn?: string): SettledCall {
  const own = toName(raw.id);
  const id = own ?? `call_${index}`;
  const madeUp = own === undefined ? ({ madeUp: true } as const) : {};
  const identity = own === undefined && turn !== undefined ? { ...madeUp, turn } : madeUp;
  const name = typeof raw.name === 'string' && raw.name !== '' ? tools.nameOf(raw.name) : undefined;
  const origin = toOrigin(raw, id, name);
  const settled = 'problem' in raw ? raw.problem : checkCall(raw, name, tools);
  if (typeof settled !== 'string')
    return { kind: 'call', call: { id, ...settled, ...identity }, ...origin, ...madeUp };
  // The model is told of the name that it knows.
  const subject =
    typeof raw.name === 'string' && raw.name !== '' ? `the call of ${quote(raw.name)}` : undefined;
  const error: ReadError = {
    index,
    id,
    ...(name === undefined ? {} : { name }),
    message: `Cannot read ${subject ?? `call ${index + 1}`}: ${settled}`,
    ...('unfinished' in raw ? { unfinished: true } : {}),
  };
  return { kind: 'error', error, ...origin, ...madeUp };
}

function toOrigin({ origin, name: shown }: RawCall, callId: string, name: string | undefined) {
  const renamed = typeof shown === 'string' && name !== undefined && shown !== name ? { name: shown } : {};
  const whole: CallOrigin = { callId, ...renamed, ...origin };
  return Object.keys(whole).length > 1 ? { origin: whole } : {};
}

/** The checked parts, or what is wrong with them. */
function checkCall(
  raw: AskedCall | TextCall,
  name: string | undefined,
  tools: KnownTools,
): Omit<ToolCall, 'id'> | string {
  if (name === undefined) return `"name" is ${describeValue(raw.name)}, the name of a tool was expected.`;
  if (isGiven(raw.id) && typeof raw.id !== 'string') {
    return `"id" is ${describeValue(raw.id)}, a string was expected.`;
  }
  return 'text' in raw ? checkText(raw, name, tools) : checkArguments(raw, name);
}

function checkArguments({ args, argsField, reason }: AskedCall, name: string): Omit<ToolCall, 'id'> | string {
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

function checkText({ text }: TextCall, name: string, tools: KnownTools): Omit<ToolCall, 'id'> | string {
  if (typeof text !== 'string') return `"input" is ${describeValue(text)}, a string was expected.`;
  const field = tools.textFieldOf(name);
  if (field === undefined) {
    return 'this tool takes a JSON object with named arguments and no free text. Call it as a function.';
  }
  const copied = toJsonObject({ [field]: text });
  return 'problem' in copied ? `its input is refused: ${copied.problem}.` : { name, args: copied.object };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
