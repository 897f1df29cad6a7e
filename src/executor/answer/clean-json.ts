import type { JsonObject, JsonValue } from '../../contract/json.js';

/** Deeper than this, a value refers to itself or is of no use to a reader. */
const DEEPEST = 100;

/**
 * A copy of what a tool gave, as JSON holds it, with every text and every name cleaned. What JSON has no word for is told (a big
 * number, a date) or left out (a function), as `JSON.stringify` does.
 * @throws RangeError when it is nested deeper than 100; and whatever its getters throw.
 */
export function cleanJson(value: object, clean: (text: string) => string, depth = 0): JsonObject {
  if (depth > DEEPEST) throw new RangeError(`nested deeper than ${DEEPEST}, or referring to itself`);
  const cleaned: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value)) {
    const kept = cleanValue(item, clean, depth + 1);
    if (kept === undefined) continue;
    const name = cleanName(key, cleaned, clean);
    // Assigned plainly it would set the prototype.
    if (name === '__proto__') Object.defineProperty(cleaned, name, { value: kept, enumerable: true });
    else cleaned[name] = kept;
  }
  return cleaned;
}

/** A name can be a secret as well. Two that are alike once they are clean are told apart by a number. */
function cleanName(key: string, cleaned: object, clean: (text: string) => string): string {
  const name = clean(key);
  if (name === key || !Object.hasOwn(cleaned, name)) return name;
  for (let count = 2; ; count++) if (!Object.hasOwn(cleaned, `${name} ${count}`)) return `${name} ${count}`;
}

/** The same for one value of any kind; undefined where JSON has nothing for it. */
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
