import { types } from 'node:util';
import type { JsonValue } from '../contract/json.js';
import { toPointer } from './map-schema.js';
import { nameKind } from './show-value.js';

export interface JsonLimits {
  /** UTF-8 bytes of the compact serialisation. */
  readonly maxBytes: number;
  /** Nesting of objects and arrays; a plain value has depth 0. */
  readonly maxDepth: number;
  /** Properties and array elements, all levels together. */
  readonly maxEntries: number;
  /** Whether integers beyond 2^53 - 1, which have lost digits, are accepted. */
  readonly unsafeIntegers: 'refuse' | 'accept';
}

export type FrozenJson =
  | { readonly ok: true; readonly value: JsonValue; readonly bytes: number }
  | {
      readonly ok: false;
      /** `size`: a limit is exceeded. `shape`: a part is not JSON. */
      readonly problem: 'size' | 'shape';
      /** JSON Pointer of the faulty value; empty for the whole. */
      readonly path: string;
      /** The fault, to be put after the path: `is a function`. */
      readonly message: string;
    };

/**
 * Makes a private, deep-frozen copy of a JSON value and measures its size, in one pass. Properties that are
 * `undefined` or have symbol keys are left out, as in `JSON.stringify`. No getter runs. -0 becomes 0, as in
 * records and hashes.
 */
export function freezeJson(value: unknown, limits: JsonLimits): FrozenJson {
  const freezer = new Freezer(limits);
  let frozen: JsonValue | undefined;
  try {
    frozen = freezer.freeze(value, 0);
  } catch {
    // A proxy's trap threw, or the proxy was revoked.
    return { ok: false, problem: 'shape', path: toPointer(freezer.path), message: 'cannot be read' };
  }
  if (frozen !== undefined) return { ok: true, value: frozen, bytes: freezer.bytes };
  const { problem, path, message } = freezer;
  return { ok: false, problem, path: toPointer(path), message };
}

class Freezer {
  bytes = 0;
  problem: 'size' | 'shape' = 'shape';
  message = '';
  readonly path: (string | number)[] = [];
  #entries = 0;
  readonly #limits: JsonLimits;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /**
   * Undefined: refused; `problem` and `message` give the reason, and `path` is built while the recursion
   * returns.
   */
  freeze(value: unknown, depth: number): JsonValue | undefined {
    switch (typeof value) {
      case 'string':
        return this.#takeString(value) ? value : undefined;
      case 'number':
        return this.#freezeNumber(value);
      case 'boolean':
        return this.#take(value ? 4 : 5) ? value : undefined;
      case 'object':
        if (value !== null) return this.#freezeContainer(value, depth + 1);
        return this.#take(4) ? null : undefined;
      default:
        return this.#refuse(`is ${nameKind(value)}`);
    }
  }

  #freezeNumber(value: number): number | undefined {
    if (!Number.isFinite(value)) return this.#refuse(`is ${value}, which JSON cannot hold`);
    if (this.#limits.unsafeIntegers === 'refuse' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      return this.#refuse(`is ${value}, beyond 2^53 where integers lose digits; send it as a string`);
    }
    if (!this.#take(jsonNumberBytes(value))) return undefined;
    return value === 0 ? 0 : value;
  }

  #freezeContainer(value: object, depth: number): JsonValue | undefined {
    if (depth > this.#limits.maxDepth) {
      return this.#refuse(`is nested deeper than ${this.#limits.maxDepth} levels, or contains itself`);
    }
    if (Array.isArray(value)) return this.#freezeArray(value, depth);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null && !isForeignObjectPrototype(prototype)) {
      return this.#refuse(`is not a plain object but ${describeInstance(value)}`);
    }
    return this.#freezeObject(value as Readonly<Record<string, unknown>>, depth);
  }

  #freezeArray(source: readonly unknown[], depth: number): JsonValue | undefined {
    const { length } = source;
    if (!this.#enter(length) || !this.#take(length === 0 ? 2 : length + 1)) return undefined;
    const copy: JsonValue[] = [];
    for (let at = 0; at < length; at++) {
      if (hasAccessor(source, at)) return this.#refuseAt(at, 'is an accessor (a getter or setter)');
      const value = source[at];
      if (value === undefined) {
        return this.#refuseAt(at, Object.hasOwn(source, at) ? 'is undefined' : 'is a hole in the array');
      }
      const frozen = this.freeze(value, depth);
      if (frozen === undefined) return this.#leave(at);
      copy.push(frozen);
    }
    return Object.freeze(copy);
  }

  #freezeObject(source: Readonly<Record<string, unknown>>, depth: number): JsonValue | undefined {
    const keys = Object.keys(source);
    if (!this.#enter(keys.length) || !this.#take(2)) return undefined;
    const copy: Record<string, JsonValue> = {};
    let kept = 0;
    for (const key of keys) {
      if (key === '__proto__') return this.#refuseAt(key, 'is a name that is not accepted');
      if (hasAccessor(source, key)) return this.#refuseAt(key, 'is an accessor (a getter or setter)');
      const value = source[key];
      if (value === undefined) continue;
      if (!this.#takeString(key) || !this.#take(kept === 0 ? 1 : 2)) return this.#leave(key);
      const frozen = this.freeze(value, depth);
      if (frozen === undefined) return this.#leave(key);
      copy[key] = frozen;
      kept++;
    }
    return Object.freeze(copy);
  }

  #enter(entries: number): boolean {
    this.#entries += entries;
    if (this.#entries <= this.#limits.maxEntries) return true;
    return this.#exceed(`holds more than ${this.#limits.maxEntries} entries`);
  }

  #takeString(text: string): boolean {
    // Every unit is at least one byte: a text that cannot fit is not read.
    if (text.length > this.#limits.maxBytes - this.bytes) return this.#take(text.length);
    const bytes = jsonStringBytes(text);
    if (bytes >= 0) return this.#take(bytes);
    this.#refuse('holds half a surrogate pair, which is not text');
    return false;
  }

  #take(bytes: number): boolean {
    this.bytes += bytes;
    if (this.bytes <= this.#limits.maxBytes) return true;
    return this.#exceed(`is larger than ${this.#limits.maxBytes} bytes of JSON`);
  }

  #exceed(message: string): false {
    this.problem = 'size';
    this.message = message;
    return false;
  }

  #refuse(message: string): undefined {
    this.message = message;
    return undefined;
  }

  #refuseAt(key: string | number, message: string): undefined {
    this.message = message;
    return this.#leave(key);
  }

  #leave(key: string | number): undefined {
    if (this.problem === 'shape') this.path.unshift(key);
    return undefined;
  }
}

function describeInstance(value: object): string {
  const kind = nameKind(value);
  return kind === 'an object' ? 'an instance of a class' : kind;
}

/**
 * Reads the descriptor without running a getter. Looked up as a property, so a getter of that name on
 * `Object.prototype` is found too.
 */
const lookupGetter: (this: object, key: PropertyKey) => unknown = Reflect.get(
  Object.prototype,
  '__lookupGetter__',
);

function hasAccessor(source: object, key: string | number): boolean {
  return lookupGetter.call(source, key) !== undefined;
}

/** The `Object.prototype` of another realm (a `vm` context, a test runner's sandbox). */
function isForeignObjectPrototype(prototype: unknown): boolean {
  return (
    typeof prototype === 'object' &&
    prototype !== null &&
    !types.isProxy(prototype) &&
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, 'isPrototypeOf')
  );
}

/** UTF-8 bytes of `JSON.stringify(text)`, or -1 if the text contains a lone surrogate. */
function jsonStringBytes(text: string): number {
  const { length } = text;
  let bytes = length + 2;
  for (let at = 0; at < length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) {
      if (unit < 0x20) bytes += hasShortEscape(unit) ? 1 : 5;
      else if (unit === 0x22 || unit === 0x5c) bytes += 1;
    } else if (unit < 0x800) {
      bytes += 1;
    } else if (unit < 0xd800 || unit > 0xdfff) {
      bytes += 2;
    } else {
      const next = text.charCodeAt(at + 1);
      // After the end the next unit is NaN, which no comparison accepts.
      if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return -1;
      bytes += 2;
      at++;
    }
  }
  return bytes;
}

/** UTF-8 bytes of `JSON.stringify(value)` for a finite number. */
function jsonNumberBytes(value: number): number {
  if (Number.isInteger(value) && value > -1_000_000 && value < 1_000_000) {
    const digits = value < 0 ? -value : value;
    const sign = value < 0 ? 1 : 0;
    if (digits < 10) return sign + 1;
    if (digits < 100) return sign + 2;
    if (digits < 1_000) return sign + 3;
    if (digits < 10_000) return sign + 4;
    return sign + (digits < 100_000 ? 5 : 6);
  }
  return String(value).length;
}

/** \b \t \n \f \r; other controls are written \u00XX. */
function hasShortEscape(unit: number): boolean {
  return unit === 0x0a || unit === 0x0d || unit === 0x09 || unit === 0x08 || unit === 0x0c;
}
