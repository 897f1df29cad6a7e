import type { JsonSchema, JsonValue } from '../../contract/json.js';
import type { ToolDefinition } from '../../contract/tool.js';
import { toObjectSchema } from '../describe/object-schema.js';
import { resolveRef, SchemaMerger, schemasOf, stringsOf, without } from '../describe/schema-merger.js';
import { isRecord } from '../unknown-value.js';
import {
  cutOff,
  described,
  isNullable,
  isType,
  isWord,
  numberPart,
  size,
  sorted,
  stringPart,
  typeOf,
  valuesOf,
  withNote,
} from './schema-parts.js';

/** The single tool of a request with all functions. */
export interface GeminiTool {
  readonly functionDeclarations: GeminiDeclaration[];
}

export interface GeminiDeclaration {
  readonly name: string;
  readonly description: string;
  /** Absent for a tool without arguments: the API rejects an object without properties. */
  readonly parameters?: GeminiSchema;
}

/** Empty without functions: the API rejects an empty list inside a tool. */
export function describeGemini(tools: readonly ToolDefinition[]): GeminiTool[] {
  return tools.length === 0 ? [] : [{ functionDeclarations: tools.map(toDeclaration) }];
}

const PROPERTY_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

function toDeclaration(tool: ToolDefinition): GeminiDeclaration {
  const { schema, description } = toObjectSchema(tool, PROPERTY_NAME);
  const parameters = toGeminiSchema(schema, PROPERTY_NAME);
  const isEmpty = parameters.properties === undefined;
  return { name: tool.name, description, ...(isEmpty ? {} : { parameters }) };
}

/**
 * The subset of OpenAPI schemas that the API accepts as `parameters`. Sizes are strings: 64-bit integers.
 * `type` is present at run time in JSON Schema's spelling; it is not declared, because the SDK's own enum is
 * in capitals and no other type can be assigned to it.
 */
export interface GeminiSchema {
  readonly [keyword: string]: unknown;
  readonly anyOf?: GeminiSchema[];
  readonly default?: JsonValue;
  readonly description?: string;
  readonly enum?: string[];
  readonly format?: string;
  readonly items?: GeminiSchema;
  readonly maxItems?: string;
  readonly maxLength?: string;
  readonly maximum?: number;
  readonly minItems?: string;
  readonly minLength?: string;
  readonly minimum?: number;
  readonly nullable?: boolean;
  readonly pattern?: string;
  readonly properties?: { readonly [name: string]: GeminiSchema };
  readonly required?: string[];
  readonly title?: string;
}

/**
 * Converts a JSON Schema to Gemini's format. `$ref` is expanded as far as possible; alternatives become
 * `anyOf`; anything else is left out, so the result allows more, never less. Arguments are still checked
 * against the tool's own schema.
 */
export function toGeminiSchema(schema: JsonSchema, accepted: RegExp): GeminiSchema {
  return new GeminiWriter(schema, accepted).write(schema, []);
}

/** Expanded references multiply: a schema of a few lines may need more than all memory. */
const MAX_SCHEMAS = 20_000;
const MAX_DEPTH = 32;
const UNTYPED = new Set(['anyOf', 'oneOf', 'type']);
const ALTERNATIVES = new Set(['anyOf', 'oneOf']);
const ALL = new Set(['allOf']);

class GeminiWriter {
  readonly #root: JsonSchema;
  readonly #accepted: RegExp;
  readonly #merger: SchemaMerger;
  #left = MAX_SCHEMAS;

  constructor(root: JsonSchema, accepted: RegExp) {
    this.#root = root;
    this.#accepted = accepted;
    this.#merger = new SchemaMerger(root);
  }

  /** `within` are the references around this schema. */
  write(value: unknown, within: readonly string[]): GeminiSchema {
    this.#left -= 1;
    if (!isRecord(value)) return { type: 'string' };
    if (this.#left <= 0 || within.length > MAX_DEPTH) return cutOff(value);
    const { $ref: ref } = value;
    if (typeof ref === 'string') {
      const target = within.includes(ref) ? undefined : resolveRef(ref, this.#root);
      if (target === undefined) return cutOff({ ...resolveRef(ref, this.#root), ...value });
      return this.write({ ...target, ...without(value, new Set(['$ref'])) }, [...within, ref]);
    }
    const inner = [...within, ''];
    if (Array.isArray(value.allOf)) return this.write(this.#mergeAll(value), inner);
    const branches = [...schemasOf(value.anyOf), ...schemasOf(value.oneOf)];
    if (branches.length > 0) return this.#writeAlternatives(value, branches, inner);
    if (Array.isArray(value.type)) return this.#writeTypes(value, stringsOf(value.type), inner);
    return this.#writeTyped(value, inner);
  }

  /** Merges schemas that all apply. */
  #mergeAll(schema: JsonSchema): JsonSchema {
    const own = without(schema, ALL);
    const parts = schemasOf(schema.allOf);
    // The usual way to add a description to a reference.
    if (parts.length <= 1) return { ...parts[0], ...own };
    const merged = this.#merger.merge({ allOf: [without(own, ALTERNATIVES), ...parts] });
    const alternatives = Object.entries(own).filter(([keyword]) => ALTERNATIVES.has(keyword));
    return { ...withoutEmpty(merged), ...Object.fromEntries(alternatives) };
  }

  #writeAlternatives(
    schema: JsonSchema,
    branches: readonly JsonSchema[],
    within: readonly string[],
  ): GeminiSchema {
    if (isRecord(schema.properties)) {
      // Nothing may stand next to `anyOf`, so the alternatives of an object become one object.
      return this.write(this.#merger.merge(schema), within);
    }
    const real = branches.filter((branch) => branch.type !== 'null' && branch.const !== null);
    const nullable = real.length < branches.length || schema.nullable === true;
    const shared = without(schema, UNTYPED);
    const words = real.every(isWord) ? real.flatMap(valuesOf) : [];
    if (words.length > 0) return this.write({ ...shared, enum: words, nullable, type: 'string' }, within);
    const [only] = real;
    if (only !== undefined && real.length === 1) return this.write({ ...only, ...shared, nullable }, within);
    if (only === undefined) return withNote({ type: 'string', nullable: true }, schema);
    const anyOf = real.map((branch) =>
      this.write({ ...described(schema), ...branch, ...(nullable ? { nullable } : {}) }, within),
    );
    return { anyOf };
  }

  #writeTypes(schema: JsonSchema, types: readonly string[], within: readonly string[]): GeminiSchema {
    const real = types.filter(isType);
    const nullable = types.includes('null') ? { nullable: true } : {};
    const [type = 'string'] = real;
    if (real.length <= 1) return this.write({ ...schema, type, ...nullable }, within);
    return { anyOf: real.map((one) => this.write({ ...schema, type: one, ...nullable }, within)) };
  }

  #writeTyped(schema: JsonSchema, within: readonly string[]): GeminiSchema {
    const type = typeOf(schema);
    const head: GeminiSchema = {
      ...(typeof schema.description === 'string' ? { description: schema.description } : {}),
      ...(isNullable(schema) ? { nullable: true } : {}),
      ...(typeof schema.title === 'string' ? { title: schema.title } : {}),
      type,
    };
    if (type === 'object') return sorted({ ...head, ...this.#objectPart(schema, within) });
    if (type === 'array') return sorted({ ...head, ...this.#arrayPart(schema, within) });
    if (type === 'string') return withNote(sorted({ ...head, ...stringPart(schema) }), schema);
    if (type === 'boolean') return withNote(sorted(head), schema);
    return withNote(sorted({ ...head, ...numberPart(schema, type) }), schema);
  }

  #objectPart({ properties, required }: JsonSchema, within: readonly string[]): GeminiSchema {
    if (!isRecord(properties)) return {};
    const names = Object.keys(properties).filter(
      (name) => this.#accepted.test(name) && properties[name] !== false,
    );
    if (names.length === 0) return {};
    const written = names.map((name): [string, GeminiSchema] => [name, this.write(properties[name], within)]);
    const known = new Set(names);
    const demanded = stringsOf(required).filter((name) => known.has(name));
    return {
      properties: Object.fromEntries(written),
      ...(demanded.length === 0 ? {} : { required: [...new Set(demanded)].sort() }),
    };
  }

  #arrayPart(schema: JsonSchema, within: readonly string[]): GeminiSchema {
    const { items, prefixItems, minItems, maxItems } = schema;
    const listed = schemasOf(prefixItems);
    const isOpen = isRecord(items) && Object.keys(items).length > 0;
    const each = listed.length > 0 ? { anyOf: isOpen ? [...listed, items] : listed } : items;
    return { items: this.write(each, within), ...size({ minItems, maxItems }) };
  }
}

function withoutEmpty(schema: JsonSchema): JsonSchema {
  const { properties, ...rest } = schema;
  return isRecord(properties) && Object.keys(properties).length === 0 ? rest : schema;
}
