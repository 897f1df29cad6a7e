import { types } from 'node:util';
import type { JsonObject, JsonValue } from '../../contract/json.js';

/** A value nested deeper than this is either cyclic or of no use to a reader. */
const DEEPEST = 100;

export type JsonReading = { readonly value: JsonValue } | { readonly fault: string };

/**
 * Copies a JSON value and reads each part once. If a part is not JSON, the reading names it and its place:
 * `at "a.b[2]": NaN is not JSON`. The check is strict so that no data is lost or changed silently: NaN, dates,
 * class instances and undefined members are refused.
 * @throws any error that a getter throws.
 */
export function readJson(value: unknown): JsonReading {
  try {
    return { value: copy(value, []) };
  } catch (error) {
    if (error instanceof NotJson) return { fault: error.message };
    throw error;
  }
}

type Path = readonly (string | number)[];

class NotJson extends Error {
  constructor(path: Path, what: string) {
    super(path.length === 0 ? what : `at "${showPath(path)}": ${what}`);
  }
}

function copy(value: unknown, path: Path): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      throw new NotJson(path, `${value} is not JSON. Use null or a text.`);
    case 'bigint':
      throw new NotJson(path, 'a bigint is not JSON. Use a number or a text.');
    case 'undefined':
      throw new NotJson(path, 'undefined is not JSON. Leave it out, or use null.');
    case 'object':
      return value === null ? null : copyObject(value, path);
    default:
      throw new NotJson(path, `a ${typeof value} is not JSON.`);
  }
}

function copyObject(value: object, path: Path): JsonValue {
  if (path.length >= DEEPEST) {
    throw new NotJson(path.slice(0, 3), `it is nested deeper than ${DEEPEST}, or refers to itself.`);
  }
  // Not map(), because it skips holes.
  if (Array.isArray(value)) return Array.from(value, (item: unknown, index) => copy(item, [...path, index]));
  if (!isPlain(value)) throw new NotJson(path, foreign(value));
  const copied: { [key: string]: JsonValue } = {};
  for (const [key, item] of Object.entries(value)) {
    const kept = copy(item, [...path, key]);
    // A plain assignment would set the prototype.
    if (key === '__proto__') Object.defineProperty(copied, key, { value: kept, enumerable: true });
    else copied[key] = kept;
  }
  return copied satisfies JsonObject;
}

/** Whether the value is an object literal, from any realm, or an object without a prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function foreign(value: object): string {
  if (types.isDate(value)) return 'a Date is not JSON. Use its toISOString().';
  if (types.isMap(value) || types.isSet(value)) return 'a Map or a Set is not JSON. Use an object or a list.';
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) {
    return 'bytes are not JSON. Return them as a block of `content`.';
  }
  if (value instanceof Error || types.isNativeError(value)) {
    return 'an Error is not JSON. Throw it, or return { error: { message } }.';
  }
  const name: unknown = value.constructor?.name;
  const what =
    typeof name === 'string' && name !== '' ? `an instance of ${name.slice(0, 64)}` : 'this object';
  return `${what} is not JSON. Use a plain object.`;
}

function showPath(path: Path): string {
  const shown = path.map((part) => {
    if (typeof part === 'number') return `[${part}]`;
    const isPlain = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(part);
    return isPlain ? `.${part}` : `[${JSON.stringify(part.slice(0, 64))}]`;
  });
  return shown.join('').replace(/^\./, '');
}
