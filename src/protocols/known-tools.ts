import { createHash } from 'node:crypto';
import type { JsonSchema } from '../contract/json.js';
import type { NameRule } from './describe/object-schema.js';
import { isRecord } from './unknown-value.js';

/** The tools that a model was shown: turns its names back, and tells its words apart from a provider's own. */
export class KnownTools {
  readonly #byName: ReadonlyMap<string, ToolLike>;
  readonly #names: ReadonlyMap<string, string>;

  /** @param rule the provider's for names. */
  constructor(rule: NameRule | undefined, tools: readonly ToolLike[] = []) {
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]));
    const shown = wireNames(rule, [...this.#byName.keys()]);
    this.#names = new Map([...shown].map(([name, wire]) => [wire, name]));
  }

  /** The tool's own name for what the model called it. An unknown name stays as it is. */
  nameOf(shown: string): string {
    return this.#names.get(shown) ?? shown;
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  takes(name: string, property: string): boolean {
    return Object.hasOwn(this.#propertiesOf(name), property);
  }

  /** Whether the tool is known and demands no argument. */
  needsNothing(name: string): boolean {
    const schema = this.#schemaOf(name);
    return schema !== undefined && (!Array.isArray(schema.required) || schema.required.length === 0);
  }

  /** The argument that free text stands for: the only one that the tool requires, if that is a string. */
  textFieldOf(name: string): string | undefined {
    const schema = this.#schemaOf(name);
    if (schema === undefined) return TEXT_FIELDS.get(name);
    const properties = this.#propertiesOf(name);
    const required = Array.isArray(schema.required) ? schema.required : [];
    const [field] = required.length === 0 ? Object.keys(properties) : required;
    const isOnly = required.length === 1 || Object.keys(properties).length === 1;
    if (!isOnly || typeof field !== 'string') return undefined;
    const property = Object.hasOwn(properties, field) ? properties[field] : undefined;
    return isRecord(property) && property.type === 'string' ? field : undefined;
  }

  #schemaOf(name: string): { readonly [key: string]: unknown } | undefined {
    const tool = this.#byName.get(name);
    const schema = tool?.inputSchema ?? tool?.input;
    return isRecord(schema) ? schema : undefined;
  }

  #propertiesOf(name: string): { readonly [key: string]: unknown } {
    const properties = this.#schemaOf(name)?.properties;
    return isRecord(properties) ? properties : {};
  }
}

/** Tools of ours that models are known to call with free text. */
const TEXT_FIELDS: ReadonlyMap<string, string> = new Map([
  ['apply_patch', 'patch'],
  ['bash', 'command'],
]);

/** The longest that every version of every provider takes. */
const MAX_LENGTH = 64;

/**
 * What each tool is called in a format, by its own name. A name that the provider takes stays; another becomes what
 * is left of it and a hash of the whole. The same set of names gives the same, whatever its order, and no two alike.
 */
export function wireNames(rule: NameRule | undefined, names: readonly string[]): ReadonlyMap<string, string> {
  if (rule === undefined) return new Map(names.map((name) => [name, name]));
  const kept = new Set(names.filter((name) => isAccepted(name, rule)));
  const taken = new Set(kept);
  const wire = new Map<string, string>();
  for (const name of [...new Set(names)].sort()) {
    const shown = kept.has(name) ? name : shorten(name, rule, taken);
    taken.add(shown);
    wire.set(name, shown);
  }
  return wire;
}

function isAccepted(name: string, { allowed, first }: NameRule): boolean {
  if (name === '' || name.length > MAX_LENGTH || !first.test(name.charAt(0))) return false;
  return [...name].every((character) => allowed.test(character));
}

const HASH_LENGTH = 8;

function shorten(name: string, rule: NameRule, taken: ReadonlySet<string>): string {
  const readable = toReadable(name, rule);
  for (let attempt = 0; ; attempt++) {
    // A lone surrogate would be hashed like any other.
    const salted = JSON.stringify(attempt === 0 ? name : [name, attempt]);
    const hash = createHash('sha256').update(salted).digest('hex').slice(0, HASH_LENGTH);
    const shown = `${readable}_${hash}`;
    if (!taken.has(shown)) return shown;
  }
}

function toReadable(name: string, { allowed, first }: NameRule): string {
  // A name may be of any length; no more of it than this can be shown.
  const head = [...name.slice(0, MAX_LENGTH)].map((character) => (allowed.test(character) ? character : '_'));
  const text = head.join('');
  const started = first.test(text.charAt(0)) ? text : `_${text}`;
  return started.slice(0, MAX_LENGTH - HASH_LENGTH - 1);
}

/** What a model is shown of a tool, as `executor.definitions()` gives it. A `Tool` with a plain JSON Schema will do. */
export interface ToolLike {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonSchema;
  /** Where there is no `inputSchema`: a JSON Schema, or a Standard Schema that gives one. */
  readonly input?: unknown;
}
