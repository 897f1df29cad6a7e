import type { JsonSchema } from '../../contract/json.js';
import { stringsOf } from '../describe/schema-merger.js';
import { isRecord } from '../unknown-value.js';
import type { GeminiSchema } from './describe.js';

export type GeminiType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object';

const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);

/** A stub for a schema that cannot be expanded further. */
export function cutOff(schema: JsonSchema): GeminiSchema {
  const type = typeOf(schema);
  const description = described(schema);
  // The API rejects an array without items.
  return type === 'array' ? { ...description, items: { type: 'string' }, type } : { ...description, type };
}

export function described({ description }: JsonSchema): { readonly description?: string } {
  return typeof description === 'string' ? { description } : {};
}

/** A schema without a type becomes a string, because the API requires a type. */
export function typeOf(schema: JsonSchema): GeminiType {
  const { type, items, prefixItems, properties, additionalProperties, minimum, maximum } = schema;
  if (isType(type)) return type;
  if (properties !== undefined || isRecord(additionalProperties)) return 'object';
  if (items !== undefined || prefixItems !== undefined) return 'array';
  const kinds = new Set(valuesOf(schema).map((value) => typeof value));
  const [kind] = kinds;
  if (kinds.size === 1 && (kind === 'number' || kind === 'boolean')) return kind;
  return minimum !== undefined || maximum !== undefined ? 'number' : 'string';
}

export function isType(value: unknown): value is GeminiType {
  return TYPES.has(value);
}

export function isNullable(schema: JsonSchema): boolean {
  return schema.nullable === true || (Array.isArray(schema.enum) && schema.enum.includes(null));
}

export function valuesOf(schema: JsonSchema): readonly unknown[] {
  const values = schema.const === undefined ? schema.enum : [schema.const];
  return Array.isArray(values) ? values.filter((value) => value !== null) : [];
}

export function isWord(schema: JsonSchema): boolean {
  const values = valuesOf(schema);
  return values.length > 0 && values.every((value) => typeof value === 'string' && value !== '');
}

export function stringPart(schema: JsonSchema): GeminiSchema {
  const { format, minLength, maxLength, pattern, default: preset } = schema;
  return {
    ...(typeof preset === 'string' ? { default: preset } : {}),
    ...(isWord(schema) ? { enum: [...stringsOf(valuesOf(schema))] } : {}),
    ...(format === 'date-time' ? { format } : {}),
    ...size({ minLength, maxLength }),
    ...(typeof pattern === 'string' ? { pattern } : {}),
  };
}

export function numberPart(schema: JsonSchema, type: 'number' | 'integer'): GeminiSchema {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, default: preset } = schema;
  const step = type === 'integer' ? 1 : 0;
  const least = isNumber(minimum)
    ? minimum
    : isNumber(exclusiveMinimum)
      ? exclusiveMinimum + step
      : undefined;
  const most = isNumber(maximum) ? maximum : isNumber(exclusiveMaximum) ? exclusiveMaximum - step : undefined;
  return {
    ...(isNumber(preset) ? { default: preset } : {}),
    ...(least === undefined ? {} : { minimum: least }),
    ...(most === undefined ? {} : { maximum: most }),
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

export function size(limits: { readonly [keyword: string]: unknown }): {
  readonly [keyword: string]: string;
} {
  const given = Object.entries(limits).filter(([, limit]) => Number.isSafeInteger(limit));
  return Object.fromEntries(given.map(([keyword, limit]) => [keyword, String(limit)]));
}

/** `enum` accepts only strings; other values go into the description. */
export function withNote(schema: GeminiSchema, from: JsonSchema): GeminiSchema {
  const values = valuesOf(from);
  if (values.length === 0 || schema.enum !== undefined) return schema;
  const shown = values.slice(0, 50).map((value) => JSON.stringify(value));
  const note = `One of: ${shown.join(', ')}${values.length > shown.length ? ', …' : ''}.`;
  const description = schema.description === undefined ? note : `${schema.description}\n${note}`;
  return sorted({ ...schema, description });
}

export function sorted(schema: GeminiSchema): GeminiSchema {
  const entries = Object.entries(schema).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries);
}
