import { wireNames } from './describe/wire-names.js';
import { isRecord } from './is-record.js';
import type { ToolLike } from './tool-like.js';
import type { WireFormat } from './wire-format.js';

/** The tools that a model was shown: turns its names back, and tells its words apart from a provider's own. */
export class KnownTools {
  readonly #byName: ReadonlyMap<string, ToolLike>;
  readonly #names: ReadonlyMap<string, string>;

  constructor(format: WireFormat, tools: readonly ToolLike[] = []) {
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]));
    const shown = wireNames(format, [...this.#byName.keys()]);
    this.#names = new Map([...shown].map(([name, wire]) => [wire, name]));
  }

  /** The tool's own name for what the model called it. A name that nobody gave stays as it is. */
  nameOf(shown: string): string {
    return this.#names.get(shown) ?? shown;
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  takes(name: string, property: string): boolean {
    return Object.hasOwn(this.#propertiesOf(name), property);
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
