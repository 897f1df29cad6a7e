import { createHash } from 'node:crypto';
import { type OptionRules, option } from '../base/normalize-options.js';
import type { JsonSchema } from '../contract/json.js';
import type { NameRule } from './describe/object-schema.js';
import { isRecord } from './unknown-value.js';

/** The option of readers that names the tools. */
export const TOOL_OPTIONS: OptionRules<{ tools: unknown }> = {
  tools: option<unknown>(undefined, isToolList, 'a list of tools'),
};

/** The tools shown to a model: restores their names, and distinguishes them from a provider's own tools. */
export class KnownTools {
  readonly #byName: ReadonlyMap<string, ToolLike>;
  readonly #names: ReadonlyMap<string, string>;

  /** @param rule the provider's rule for names. */
  constructor(rule: NameRule | undefined, tools: readonly ToolLike[] = []) {
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]));
    const shown = wireNames(rule, [...this.#byName.keys()]);
    this.#names = new Map([...shown].map(([name, wire]) => [wire, name]));
  }

  /** The tool's own name for a name that the model used. An unknown name is unchanged. */
  nameOf(shown: string): string {
    return this.#names.get(shown) ?? shown;
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  takes(name: string, property: string): boolean {
    return Object.hasOwn(this.#propertiesOf(name), property);
  }

  /** Whether the tool is known and requires no argument. */
  needsNothing(name: string): boolean {
    const schema = this.#schemaOf(name);
    return schema !== undefined && (!Array.isArray(schema.required) || schema.required.length === 0);
  }

  /** The argument for free text: the tool's only required argument, if it is a string. */
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

/** Our tools that models sometimes call with free text. */
const TEXT_FIELDS: ReadonlyMap<string, string> = new Map([
  ['apply_patch', 'patch'],
  ['bash', 'command'],
]);

/** The maximum length that every version of every provider accepts. */
const MAX_LENGTH = 64;

/**
 * The names of tools in a format, by their own name. A valid name is unchanged; another becomes its valid
 * characters and a hash. The same set of names always gives the same unique names, in any order.
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
    // JSON, because different lone surrogates would have the same hash.
    const salted = JSON.stringify(attempt === 0 ? name : [name, attempt]);
    const hash = createHash('sha256').update(salted).digest('hex').slice(0, HASH_LENGTH);
    const shown = `${readable}_${hash}`;
    if (!taken.has(shown)) return shown;
  }
}

function toReadable(name: string, { allowed, first }: NameRule): string {
  // A name may have any length; no more than this can be used.
  const head = [...name.slice(0, MAX_LENGTH)].map((character) => (allowed.test(character) ? character : '_'));
  const text = head.join('');
  const started = first.test(text.charAt(0)) ? text : `_${text}`;
  return started.slice(0, MAX_LENGTH - HASH_LENGTH - 1);
}

/**
 * A tool's description for a model, as `executor.definitions()` gives it. A `Tool` with a plain JSON Schema
 * works too.
 */
export interface ToolLike {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonSchema;
  /** Used without `inputSchema`: a JSON Schema, or a Standard Schema that provides one. */
  readonly input?: unknown;
}

function isToolList(value: unknown): boolean {
  return Array.isArray(value) && value.every((tool) => isRecord(tool) && typeof tool.name === 'string');
}
