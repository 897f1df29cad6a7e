export type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** A JSON Schema (2020-12, or draft-07 when `$schema` says so). */
export type JsonSchema = { readonly [key: string]: unknown };
