import type { JsonSchema } from '../../contract/json.js';
import type { ToolDefinition } from '../../contract/tool.js';
import { isRecord } from '../unknown-value.js';
import { SchemaMerger, stringsOf, without } from './schema-merger.js';

/** The schema of a function's arguments. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: { readonly [name: string]: unknown };
  readonly required?: string[];
  readonly [keyword: string]: unknown;
}

/** The characters that a provider accepts in a tool's name. */
export interface NameRule {
  /** A character at any position but the first. */
  readonly allowed: RegExp;
  readonly first: RegExp;
}

/** Letters, digits, `_` and `-`. */
export const WORD_NAMES: NameRule = { allowed: /[A-Za-z0-9_-]/, first: /[A-Za-z0-9_-]/ };

/** Rejected, or meaningless, at the top of a function's schema. */
const NOT_AT_TOP = new Set([
  '$comment',
  '$ref',
  '$schema',
  'const',
  'else',
  'enum',
  'if',
  'nullable',
  'not',
  'then',
]);

/**
 * A tool's schema in a form that every provider accepts: an object with properties, without combinations at
 * its top. Properties with rejected names are left out, and the description says so.
 */
export function toObjectSchema(
  { description, inputSchema }: ToolDefinition,
  accepted?: RegExp,
): { readonly schema: ObjectSchema; readonly description: string } {
  const top = without(new SchemaMerger(inputSchema).merge(inputSchema), NOT_AT_TOP);
  const properties = isRecord(top.properties) ? top.properties : {};
  const names = Object.keys(properties);
  const refused = accepted === undefined ? [] : names.filter((name) => !accepted.test(name));
  const unwanted = new Set(refused);
  const required = stringsOf(top.required).filter((name) => !unwanted.has(name));
  const schema = withFixedParts(rewrite({ ...top, properties: without(properties, unwanted), required }));
  return { schema, description: refused.length === 0 ? description : `${description}${note(refused)}` };
}

/** Puts the keys in order, with `type` in its place. */
function withFixedParts(schema: JsonSchema): ObjectSchema {
  const { properties, required, type: _, ...rest } = schema;
  const fixed = { properties: isRecord(properties) ? properties : {}, type: 'object' } as const;
  const whole: ObjectSchema =
    required === undefined ? fixed : { ...fixed, required: [...stringsOf(required)] };
  const entries = Object.entries({ ...rest, ...whole }).sort(([one], [other]) => (one < other ? -1 : 1));
  return { ...Object.fromEntries(entries), ...whole };
}

function note(refused: readonly string[]): string {
  const shown = refused.slice(0, 10).map((name) => JSON.stringify(name.slice(0, 80)));
  const more = refused.length > shown.length ? ', …' : '';
  return `\n\nNot available here, because of their names: ${shown.join(', ')}${more}.`;
}

const ONE = new Set(
  'additionalItems additionalProperties contains else if items not propertyNames then unevaluatedItems unevaluatedProperties'.split(
    ' ',
  ),
);
const NOTES = new Set(['$comment', '$schema']);
const LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const BY_NAME = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);

/**
 * Rewrites a schema and its parts to 2020-12, and adds the array keys that OpenAI requires. The copy limits
 * the depth.
 */
function rewrite(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(modernise(schema)).map(([keyword, value]): [string, unknown] => {
    if (ONE.has(keyword)) return [keyword, rewriteOne(value)];
    if (LIST.has(keyword) && Array.isArray(value)) return [keyword, value.map(rewriteOne)];
    if (BY_NAME.has(keyword) && isRecord(value)) {
      return [
        keyword,
        Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rewriteOne(one)])),
      ];
    }
    if (keyword === 'required') return [keyword, [...new Set(stringsOf(value))].sort()];
    return [keyword, value];
  });
  const kept = entries.filter(([keyword, value]) => keyword !== 'required' || stringsOf(value).length > 0);
  return Object.fromEntries(kept.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function rewriteOne(value: unknown): unknown {
  return isRecord(value) ? rewrite(value) : value;
}

/** Lists of `items` become `prefixItems`. */
function modernise(schema: JsonSchema): JsonSchema {
  const { items, additionalItems, ...rest } = without(schema, NOTES);
  const isTuple = Array.isArray(items);
  const each = isTuple ? additionalItems : items;
  return {
    ...rest,
    ...(isTuple ? { prefixItems: items } : {}),
    ...(each !== undefined ? { items: each } : rest.type === 'array' ? { items: {} } : {}),
  };
}
