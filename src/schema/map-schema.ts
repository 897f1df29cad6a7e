import type { JsonSchema } from '../contract/json.js';

/** Keywords whose value is a schema (or, in draft-07, a list of schemas). */
const ONE = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const BY_NAME = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** Rewrites every subschema and then the schema itself. Property names are never mistaken for keywords. */
export function mapSchema(schema: JsonSchema, rewrite: (node: JsonSchema) => JsonSchema): JsonSchema {
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (ONE.has(keyword) || LIST.has(keyword)) return [keyword, mapOneOrList(value, rewrite)];
    if (BY_NAME.has(keyword) && isSchemaObject(value)) return [keyword, mapValues(value, rewrite)];
    return [keyword, value];
  });
  return rewrite(Object.fromEntries(entries));
}

/** Visits a schema and all its subschemas. */
export function visitSchema(schema: JsonSchema, visit: (node: JsonSchema) => void): void {
  visit(schema);
  for (const keyword in schema) {
    const value = schema[keyword];
    if (ONE.has(keyword) || LIST.has(keyword)) visitOneOrList(value, visit);
    else if (BY_NAME.has(keyword) && isSchemaObject(value))
      for (const item of Object.values(value)) visitOneOrList(item, visit);
  }
}

function visitOneOrList(value: unknown, visit: (node: JsonSchema) => void): void {
  if (Array.isArray(value)) for (const item of value) visitOneOrList(item, visit);
  else if (isSchemaObject(value)) visitSchema(value, visit);
}

/** A copy without some of its keywords. */
export function withoutKeywords(schema: JsonSchema, ...keywords: readonly string[]): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)));
}

export function isSchemaObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapOneOrList(value: unknown, rewrite: (node: JsonSchema) => JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => mapOneOrList(item, rewrite));
  return isSchemaObject(value) ? mapSchema(value, rewrite) : value;
}

function mapValues(value: JsonSchema, rewrite: (node: JsonSchema) => JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapOneOrList(item, rewrite)]));
}

/** A JSON Pointer (RFC 6901), empty for the whole document. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${escapeSegment(String(key))}`).join('');
}

/** The value at a pointer in a JSON document, or undefined. */
export function followPointer(document: unknown, pointer: string): unknown {
  let at = document;
  for (const segment of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined;
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return at;
}

/** A property name as one segment of a pointer. */
export function escapeSegment(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
