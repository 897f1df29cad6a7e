import type { JsonSchema } from '../contract/json.js';
import { isSchemaObject } from './map-schema.js';

/** A quick assessment of a schema. In doubt, both are false, and ajv finds any faults. */
export interface SchemaOverview {
  /** Both dialects' own schemas accept it. Asking them takes 50 ms the first time, and 50 µs each time. */
  readonly isValid: boolean;
  /** Compiling it cannot fail: it has no reference, no pattern and no id. */
  readonly isSimple: boolean;
}

/** Reads each keyword once, with a table of the common ones. */
export function lookOver(schema: JsonSchema): SchemaOverview {
  const look = new Look();
  const { $schema, ...rest } = schema;
  const isValid = ($schema === undefined || typeof $schema === 'string') && look.accepts(rest, 0);
  return { isValid, isSimple: isValid && look.isSimple };
}

/** Deeper schemas are left to ajv, which recurses for each level. */
const MAX_DEPTH = 32;

class Look {
  isSimple = true;

  accepts(schema: unknown, depth: number): boolean {
    if (typeof schema === 'boolean') return true;
    if (!isSchemaObject(schema) || depth > MAX_DEPTH) return false;
    for (const keyword in schema) {
      const kind = KINDS.get(keyword);
      if (kind === undefined ? !keyword.startsWith('x-') : !this.#isOf(kind, schema[keyword], depth + 1))
        return false;
    }
    return true;
  }

  #isOf(kind: Kind, value: unknown, depth: number): boolean {
    switch (kind) {
      case 'schema':
        return this.accepts(value, depth);
      case 'schemas':
        return isFilledList(value) && value.every((item) => this.accepts(item, depth));
      case 'schemas by name':
        return isSchemaObject(value) && Object.values(value).every((item) => this.accepts(item, depth));
      case 'names by name':
        return isSchemaObject(value) && Object.values(value).every(isNames);
      case 'reference':
      case 'pattern':
        this.isSimple = false;
        return typeof value === 'string';
      case 'schemas by pattern':
        this.isSimple = false;
        return this.#isOf('schemas by name', value, depth);
      default:
        return PLAIN[kind](value);
    }
  }
}

const isFilledList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length > 0;
const isNames = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every((name) => typeof name === 'string') &&
  new Set(value).size === value.length;

const TYPES = new Set<unknown>(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

const PLAIN = {
  anything: () => true,
  count: (value: unknown) => Number.isInteger(value) && Number(value) >= 0,
  flag: (value: unknown) => typeof value === 'boolean',
  list: (value: unknown) => Array.isArray(value),
  'filled list': isFilledList,
  names: isNames,
  number: (value: unknown) => typeof value === 'number',
  step: (value: unknown) => typeof value === 'number' && value > 0,
  text: (value: unknown) => typeof value === 'string',
  types: (value: unknown) =>
    TYPES.has(value) || (isFilledList(value) && isNames(value) && value.every((type) => TYPES.has(type))),
} as const;

type Kind =
  | keyof typeof PLAIN
  | 'names by name'
  | 'pattern'
  | 'reference'
  | 'schema'
  | 'schemas'
  | 'schemas by name'
  | 'schemas by pattern';

const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries({
    anything: 'const default',
    count: 'maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties',
    'filled list': 'enum',
    flag: 'deprecated readOnly uniqueItems writeOnly',
    list: 'examples',
    names: 'required',
    'names by name': 'dependentRequired',
    number: 'exclusiveMaximum exclusiveMinimum maximum minimum',
    pattern: 'pattern',
    reference: '$ref',
    schema: [
      'additionalProperties contains else if items not propertyNames then',
      'unevaluatedItems unevaluatedProperties',
    ].join(' '),
    schemas: 'allOf anyOf oneOf prefixItems',
    'schemas by name': '$defs definitions dependentSchemas properties',
    'schemas by pattern': 'patternProperties',
    step: 'multipleOf',
    text: '$comment contentEncoding contentMediaType description format title',
    types: 'type',
  } satisfies Record<Kind, string>).flatMap(([kind, keywords]) =>
    keywords.split(' ').map((keyword) => [keyword, kind as Kind] as const),
  ),
);
