import { requireArgument } from '../../base/normalize-options.js';
import type { JsonSchema, JsonValue } from '../../contract/json.js';
import type { ToolDefinition } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import type { ToolLike } from '../known-tools.js';
import { wireNames } from '../known-tools.js';
import { providerOf, type ToolDescriptions, type WireFormat } from '../registry.js';
import { describeValue, isRecord, quote } from '../unknown-value.js';

/**
 * Describes the tools in a provider's format, sorted by name. The same tools give the same bytes for any
 * order of tools and schema keys, which prompt caches require (D112). Names and schemas follow the provider's
 * rules; an invalid name is shortened, and `readCalls(response, { tools })` restores it. The input is not
 * changed.
 *
 * @throws ToolError `config_invalid` for an unknown format, or an invalid tool or JSON Schema;
 * `duplicate_tool`.
 */
export function describeTools<F extends WireFormat>(
  format: F,
  tools: readonly ToolLike[],
): ToolDescriptions[F] {
  const provider = providerOf(format);
  requireArgument('describeTools()', tools, Array.isArray, 'a list of tools');
  const definitions = tools.map(normalizeDefinition);
  const names = wireNames(
    provider.names,
    definitions.map(({ name }) => name),
  );
  if (names.size < definitions.length) throw duplicate(definitions);
  const named = definitions.map(
    (tool): ToolDefinition => ({ ...tool, name: names.get(tool.name) ?? tool.name }),
  );
  return provider.describe(named.sort((one, other) => (one.name < other.name ? -1 : 1)));
}

function duplicate(definitions: readonly ToolDefinition[]): ToolError {
  const names = definitions.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index) ?? '';
  return new ToolError(
    'duplicate_tool',
    `Cannot describe the tools: two of them are called ${JSON.stringify(twice.slice(0, 80))}. Rename one.`,
  );
}

/**
 * A tool's definition with a private copy of its schema and sorted keys.
 * @throws ToolError `config_invalid`
 */
function normalizeDefinition(tool: ToolLike): ToolDefinition {
  const { name, description = '', inputSchema, input }: { readonly [key: string]: unknown } = { ...tool };
  if (typeof name !== 'string' || typeof description !== 'string') {
    throw new ToolError(
      'config_invalid',
      `Cannot describe ${describeValue(tool)}: it is not a tool. Pass the result of executor.definitions().`,
    );
  }
  try {
    const copier = new SchemaCopier();
    const schema = copier.copy(inputSchema ?? toJsonSchema(input), 0);
    if (!isSchema(schema)) throw new Error(`it is ${describeValue(schema)}`);
    return { name, description, inputSchema: schema };
  } catch (error) {
    // A caller's getter or proxy may throw anything.
    const why = error instanceof Error ? error.message : 'it cannot be read';
    throw new ToolError(
      'config_invalid',
      `Cannot describe the tool ${quote(name)}: its input schema is not a JSON Schema: ${why}. Give a plain JSON Schema.`,
      { cause: error },
    );
  }
}

/** Converts a Standard Schema that provides its JSON Schema; anything else is treated as a JSON Schema. */
function toJsonSchema(input: unknown): unknown {
  const standard =
    typeof input === 'function' || isRecord(input) ? Reflect.get(input, '~standard') : undefined;
  const converter = isRecord(standard) ? standard.jsonSchema : undefined;
  const convert = isRecord(converter) ? converter.input : undefined;
  return typeof convert === 'function' ? convert({ target: 'draft-2020-12' }) : input;
}

function isSchema(value: unknown): value is JsonSchema {
  return isRecord(value);
}

/** Beyond any real schema. The depth limit stops cycles, the count limit stops heavily shared parts. */
const MAX_DEPTH = 256;
const MAX_VALUES = 200_000;

class SchemaCopier {
  #values = 0;

  copy(value: unknown, depth: number): JsonValue {
    this.#values += 1;
    if (this.#values > MAX_VALUES) throw new Error(`it holds more than ${MAX_VALUES} values`);
    if (depth > MAX_DEPTH) throw new Error(`it is nested deeper than ${MAX_DEPTH} levels`);
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (Array.isArray(value)) return Array.from(value, (element) => this.copy(element, depth + 1));
    if (!isRecord(value)) throw new Error(`it holds ${describeValue(value)}`);
    const entries = Object.keys(value)
      .sort()
      .map((key): [string, unknown] => [key, value[key]])
      .filter(([, member]) => member !== undefined);
    // Not by assignment, because a key may be __proto__.
    return Object.fromEntries(entries.map(([key, member]) => [key, this.copy(member, depth + 1)]));
  }
}
