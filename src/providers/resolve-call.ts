import type { ReadError, ToolCall } from '../contract/call.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import { type CallOrigin, madeUpId } from './call-origin.js';
import type { KnownTools } from './known-tools.js';
import type { AskedCall, RawCall, TextCall } from './raw-call.js';
import { describeValue, isRecord, quote, toName } from './unknown-value.js';

export type ResolvedCall = (
  | { readonly kind: 'call'; readonly call: ToolCall }
  | { readonly kind: 'error'; readonly error: ReadError }
) & {
  readonly origin?: CallOrigin;
  /** The response gave no id. */
  readonly madeUp?: true;
};

/**
 * Checks a call. `index` is its position in the response; it forms a missing id (A022), which then belongs to
 * `turn`, the response's id.
 */
export function resolveCall(raw: RawCall, index: number, tools: KnownTools, turn?: string): ResolvedCall {
  const own = toName(raw.id);
  const id = own ?? madeUpId(index);
  const madeUp = own === undefined ? ({ madeUp: true } as const) : {};
  const identity = own === undefined && turn !== undefined ? { ...madeUp, turn } : madeUp;
  const name = typeof raw.name === 'string' && raw.name !== '' ? tools.nameOf(raw.name) : undefined;
  const origin = toOrigin(raw, id, name);
  const checked = 'problem' in raw ? raw.problem : checkCall(raw, name, tools);
  if (typeof checked !== 'string')
    return { kind: 'call', call: { id, ...checked, ...identity }, ...origin, ...madeUp };
  // Uses the name that the model knows.
  const subject =
    typeof raw.name === 'string' && raw.name !== '' ? `the call of ${quote(raw.name)}` : undefined;
  const error: ReadError = {
    index,
    id,
    ...(name === undefined ? {} : { name }),
    message: `Cannot read ${subject ?? `call ${index + 1}`}: ${checked}`,
    ...('unfinished' in raw ? { unfinished: true } : {}),
  };
  return { kind: 'error', error, ...origin, ...madeUp };
}

function toOrigin({ origin, name: shown }: RawCall, callId: string, name: string | undefined) {
  const renamed = typeof shown === 'string' && name !== undefined && shown !== name ? { name: shown } : {};
  const whole: CallOrigin = { callId, ...renamed, ...origin };
  return Object.keys(whole).length > 1 ? { origin: whole } : {};
}

/** The checked parts, or the fault. */
function checkCall(
  raw: AskedCall | TextCall,
  name: string | undefined,
  tools: KnownTools,
): Omit<ToolCall, 'id'> | string {
  if (name === undefined) return `"name" is ${describeValue(raw.name)}, the name of a tool was expected.`;
  if (isGiven(raw.id) && typeof raw.id !== 'string') {
    return `"id" is ${describeValue(raw.id)}, a string was expected.`;
  }
  return 'text' in raw ? checkText(raw, name, tools) : checkArguments(raw, name, tools);
}

function checkArguments(
  { args: given, argsField, reason }: AskedCall,
  name: string,
  tools: KnownTools,
): Omit<ToolCall, 'id'> | string {
  // Some servers send an empty text for no arguments, and their models cannot send anything else.
  const args = given === undefined && tools.needsNothing(name) ? {} : given;
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

const MAX_DEPTH = 64;
const MAX_VALUES = 100_000;

/**
 * A copy of `value` as pure JSON, or the reason why there is none. Applies the limits of JSON text to parsed
 * input: depth, count, `__proto__`, numbers, surrogates; the depth limit stops cycles.
 */
function toJsonObject(value: object): { readonly object: JsonObject } | { readonly problem: string } {
  try {
    return { object: copyObject(value, 1, { values: 0 }) };
  } catch (error) {
    // A caller's getter or proxy may throw anything.
    return { problem: error instanceof Error ? error.message : 'they cannot be read' };
  }
}

interface Count {
  values: number;
}

function copyValue(value: unknown, depth: number, count: Count): JsonValue {
  count.values += 1;
  if (count.values > MAX_VALUES) throw new Error(`they hold more than ${MAX_VALUES} values`);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return checkString(value);
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object') throw new Error(`they hold ${describeValue(value)}, which is not JSON`);
  if (depth > MAX_DEPTH) throw new Error(`they are nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return Array.from(value, (element) => copyValue(element, depth + 1, count));
  return copyObject(value, depth, count);
}

function copyObject(value: object, depth: number, count: Count): JsonObject {
  if (!isPlain(value)) throw new Error('they hold an object that is not plain JSON');
  const copy: { [key: string]: JsonValue } = {};
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') throw new Error('the key "__proto__" is not allowed');
    // As in JSON: an absent member, not a wrong one.
    if (member !== undefined) copy[checkString(key)] = copyValue(member, depth + 1, count);
  }
  return copy;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The prototype's own prototype is checked, because an object of another realm has another Object.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function checkString(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new Error(`${quote(text)} holds half of a surrogate pair`);
  return text;
}
