import type { JsonSchema } from '../../contract/json.js';
import { isRecord } from '../unknown-value.js';

/** Real schemas have fewer combinations; a hostile one may have more. */
const MAX_ROUNDS = 8;
const MAX_BRANCHES = 1000;
const COMBINING = new Set(['$ref', 'allOf', 'anyOf', 'oneOf']);
const REF = new Set(['$ref']);

/** Resolves the combinations at the top of a schema. */
export class SchemaMerger {
  readonly #root: JsonSchema;
  /** Schemas as text, to compare them. */
  readonly #texts = new WeakMap<object, string>();
  #left = MAX_BRANCHES;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  /**
   * An object schema without `$ref` and combinations at its top: it allows every property of any alternative,
   * and requires those that all of them require. It is more permissive; arguments are still checked against
   * the tool's own schema.
   */
  merge(schema: JsonSchema, rounds = MAX_ROUNDS): JsonSchema {
    const own = this.#followRefs(schema);
    const bare = without(own, COMBINING);
    const all = [bare, ...this.#mergeEach(own.allOf, rounds)];
    const groups = [own.anyOf, own.oneOf].map((group) => this.#mergeEach(group, rounds));
    const parts = [...all, ...groups.flat()];
    if (parts.length === 1) return bare;
    const required = [...all.flatMap((part) => stringsOf(part.required)), ...groups.flatMap(requiredByAll)];
    const { additionalProperties, ...whole } = Object.fromEntries(all.toReversed().flatMap(Object.entries));
    return {
      ...whole,
      properties: this.#mergeProperties(parts),
      ...(required.length === 0 ? {} : { required: [...new Set(required)].sort() }),
      // The rule of one part would forbid properties of another.
      ...(bare.additionalProperties === undefined ? {} : { additionalProperties }),
    };
  }

  #mergeEach(list: unknown, rounds: number): readonly JsonSchema[] {
    if (rounds === 0) return [];
    return schemasOf(list).flatMap((branch) => {
      this.#left -= 1;
      return this.#left < 0 ? [] : [this.merge(branch, rounds - 1)];
    });
  }

  #followRefs(schema: JsonSchema): JsonSchema {
    let at = schema;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const target = resolveRef(at.$ref, this.#root);
      if (target === undefined) return at;
      at = { ...target, ...without(at, REF) };
    }
    return without(at, REF);
  }

  #mergeProperties(parts: readonly JsonSchema[]): JsonSchema {
    const merged = new Map<string, Map<string, unknown>>();
    for (const { properties } of parts) {
      if (!isRecord(properties)) continue;
      for (const [name, property] of Object.entries(properties)) {
        const alternatives = merged.get(name);
        if (alternatives === undefined) merged.set(name, new Map([[this.#textOf(property), property]]));
        else alternatives.set(this.#textOf(property), property);
      }
    }
    const joined = [...merged].map(([name, alternatives]): [string, unknown] => [
      name,
      joinAlternatives([...alternatives.values()]),
    ]);
    return Object.fromEntries(joined.sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #textOf(schema: unknown): string {
    if (!isRecord(schema)) return JSON.stringify(schema);
    const known = this.#texts.get(schema);
    if (known !== undefined) return known;
    const text = JSON.stringify(schema);
    this.#texts.set(schema, text);
    return text;
  }
}

function requiredByAll(group: readonly JsonSchema[]): readonly string[] {
  const [first, ...rest] = group.map((part) => new Set(stringsOf(part.required)));
  return [...(first ?? [])].filter((name) => rest.every((names) => names.has(name)));
}

/** The tags of a tagged union become one list of values. */
function joinAlternatives(alternatives: readonly unknown[]): unknown {
  const [only] = alternatives;
  if (alternatives.length === 1) return only;
  const values = alternatives.map(valuesOf);
  if (values.some((list) => list === undefined)) return { anyOf: alternatives };
  const type = isRecord(only) && only.type !== undefined ? { type: only.type } : {};
  return { enum: [...new Set(values.flatMap((list) => list ?? []))], ...type };
}

function valuesOf(schema: unknown): readonly unknown[] | undefined {
  if (!isRecord(schema)) return undefined;
  const names = Object.keys(schema).filter((keyword) => keyword !== 'type' && keyword !== 'description');
  if (names.length !== 1) return undefined;
  if ('const' in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

/** The schemas in a list keyword. Booleans are schemas too. */
export function schemasOf(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((element) => typeof element === 'string') : [];
}

/** The target of a `$ref` inside the same schema; undefined otherwise. */
export function resolveRef(ref: unknown, root: JsonSchema): JsonSchema | undefined {
  if (typeof ref !== 'string' || !(ref === '#' || ref.startsWith('#/'))) return undefined;
  let at: unknown = root;
  for (const token of ref.split('/').slice(1)) {
    const key = decode(token).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return isRecord(at) ? at : undefined;
}

function decode(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}

export function without(schema: JsonSchema, keywords: ReadonlySet<string>): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.has(keyword)));
}
