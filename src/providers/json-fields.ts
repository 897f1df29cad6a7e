import type { JsonObject, JsonValue } from '../contract/json.js';

/** Reads JSON of unknown structure. */

/** @returns undefined if it is not JSON. */
export function readJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An empty object for any other value. */
export function objectIn(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The objects in a list, or in a value that may not be a list. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** An empty text for any other value. */
export function textIn(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** 0 for any other value. */
export function numberIn(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}

/** For values that our own writers built from JSON; interfaces do not show that to the compiler. */
export function asJsonObjects(written: unknown): readonly JsonObject[] {
  return (Array.isArray(written) ? written : [written]) as readonly JsonObject[];
}
