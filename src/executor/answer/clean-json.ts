import type { JsonObject, JsonValue } from '../../contract/json.js';

/** A value nested deeper than this is either cyclic or of no use to a reader. */
const DEEPEST = 100;

/**
 * Copies a tool's value as plain JSON and cleans every text and every key. Values that JSON cannot express
 * are converted (a big number, a date) or left out (a function), as `JSON.stringify` does.
 * @throws RangeError if the value is nested deeper than 100; also any error that a getter throws.
 */
export function cleanJson(value: object, clean: (text: string) => string, depth = 0): JsonObject {
  if (depth > DEEPEST) throw new RangeError(`nested deeper than ${DEEPEST}, or referring to itself`);
  const cleaned: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value)) {
    const kept = cleanValue(item, clean, depth + 1);
    if (kept === undefined) continue;
    const name = cleanName(key, cleaned, clean);
    // A plain assignment would set the prototype.
    if (name === '__proto__') Object.defineProperty(cleaned, name, { value: kept, enumerable: true });
    else cleaned[name] = kept;
  }
  return cleaned;
}

/**
 * A key can contain a secret too. If two keys are equal after cleaning, a number is appended to the second
 * one.
 */
function cleanName(key: string, cleaned: object, clean: (text: string) => string): string {
  const name = clean(key);
  if (name === key || !Object.hasOwn(cleaned, name)) return name;
  for (let count = 2; ; count++) if (!Object.hasOwn(cleaned, `${name} ${count}`)) return `${name} ${count}`;
}

/** Like `cleanJson`, for one value of any kind. Returns undefined if JSON cannot express the value. */
export function cleanValue(
  value: unknown,
  clean: (text: string) => string,
  depth = 0,
): JsonValue | undefined {
  switch (typeof value) {
    case 'string':
      return clean(value);
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'boolean':
      return value;
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? null : cleanObject(value, clean, depth);
    default:
      return undefined;
  }
}

function cleanObject(value: object, clean: (text: string) => string, depth: number): JsonValue | undefined {
  if (depth > DEEPEST) throw new RangeError(`nested deeper than ${DEEPEST}, or referring to itself`);
  if (Array.isArray(value)) return value.map((item: unknown) => cleanValue(item, clean, depth + 1) ?? null);
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return cleanValue(value.toJSON(), clean, depth + 1);
  }
  return cleanJson(value, clean, depth);
}
