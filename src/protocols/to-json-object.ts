import type { JsonObject, JsonValue } from '../contract/json.js';
import { describeValue, quote } from './describe-value.js';

const MAX_DEPTH = 64;
const MAX_VALUES = 100_000;

/**
 * A copy of `value` that is JSON and nothing else, or a sentence on why there is none. Holds parsed input to the
 * limits of JSON text: depth, count, `__proto__`, numbers, surrogates; cycles end at the depth.
 */
export function toJsonObject(value: object): { readonly object: JsonObject } | { readonly problem: string } {
  try {
    return { object: copyObject(value, 1, { values: 0 }) };
  } catch (error) {
    // A getter or a proxy of the caller may throw anything.
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
    // As JSON would: an absent member, not a wrong one.
    if (member !== undefined) copy[checkString(key)] = copyValue(member, depth + 1, count);
  }
  return copy;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The prototype's own prototype is asked, since an object of another realm has another Object.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function checkString(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new Error(`${quote(text)} holds half of a surrogate pair`);
  return text;
}
