import type { JsonObject, JsonValue } from '../contract/json.js';

/** Reads JSON of which nothing is known yet. */

/** @returns undefined for what is no JSON. */
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

/** An empty object for what is none. */
export function objectIn(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The elements that are objects, of what may be no array at all. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** An empty text for what is none. */
export function textIn(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** 0 for what is no number. */
export function numberIn(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}

/** Of a value that our own writers have made of JSON values alone; interfaces do not say so to the compiler. */
export function asJsonObjects(written: unknown): readonly JsonObject[] {
  return (Array.isArray(written) ? written : [written]) as readonly JsonObject[];
}
