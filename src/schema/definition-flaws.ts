import { showKey, showValue } from '../base/show-setting.js';

/** One fault of a value. */
export interface Flaw {
  /** The path of the faulty part within the value. */
  readonly at: readonly (string | number)[];
  /** Continues the key's name: ` must be …`, `[0].name must be …`. */
  readonly problem: string;
}

const MAX_DEPTH = 64;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Checks a list of tool definitions (D114): each has a name, a description and an object schema, names are
 * unique, and everything is JSON. Each flaw names the index and the field.
 * @param schemaField the name of the schema field: `parameters` in the file, `inputSchema` as an option.
 */
export function definitionFlaws(list: unknown, schemaField: 'parameters' | 'inputSchema'): readonly Flaw[] {
  if (!Array.isArray(list)) {
    return [{ at: [], problem: ` must be a list of definitions of tools, not ${showValue(list)}.` }];
  }
  const definitions: readonly unknown[] = list;
  return [
    ...definitions.flatMap((definition, index) => flawsOf(definition, index, schemaField)),
    ...repeatedNames(definitions),
  ];
}

function flawsOf(definition: unknown, index: number, schemaField: string): Flaw[] {
  if (!isTable(definition)) return [flaw([index], 'a definition of a tool', definition)];
  const { name, description } = definition;
  const schema = definition[schemaField];
  const known = ['name', 'description', schemaField];
  const flaws: Flaw[] = Object.keys(definition)
    .filter((field) => !known.includes(field))
    .map((field) => ({
      at: [index, field],
      problem: `${showStep(index, field)} is not known. Known: ${known.join(', ')}.`,
    }));
  if (typeof name !== 'string' || !NAME.test(name)) {
    flaws.push(flaw([index, 'name'], 'a name of letters, digits, _ and -, at most 64', name));
  }
  if (typeof description !== 'string' || description.trim() === '') {
    flaws.push(flaw([index, 'description'], 'a text that says what the tool does', description));
  }
  return [...flaws, ...schemaFlaws(schema, [index, schemaField])];
}

function schemaFlaws(schema: unknown, at: Flaw['at']): Flaw[] {
  if (!isTable(schema)) return [flaw(at, 'a JSON Schema of an object', schema)];
  if (schema.type !== 'object') return [flaw([...at, 'type'], '"object"', schema.type)];
  const { properties, required } = schema;
  const flaws: Flaw[] = [];
  if (properties !== undefined && !isTable(properties)) {
    flaws.push(flaw([...at, 'properties'], 'a table of schemas', properties));
  }
  if (
    required !== undefined &&
    !(Array.isArray(required) && required.every((name) => typeof name === 'string'))
  ) {
    flaws.push(flaw([...at, 'required'], 'a list of names', required));
  }
  const stray = findNoJson(schema, at);
  if (stray !== undefined) flaws.push(stray);
  return flaws;
}

/** Values that JSON cannot represent (dates, inf, nan), and nesting too deep for a schema. */
function findNoJson(value: unknown, at: Flaw['at']): Flaw | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'number' && Number.isFinite(value)) return undefined;
  const isList = Array.isArray(value);
  if (!isList && !isTable(value)) return flaw(at, 'a value of JSON', value);
  if (at.length > MAX_DEPTH) return flaw(at, `nested at most ${MAX_DEPTH} deep`, value);
  for (const [name, item] of Object.entries(value)) {
    const stray = findNoJson(item, [...at, isList ? Number(name) : name]);
    if (stray !== undefined) return stray;
  }
  return undefined;
}

function repeatedNames(definitions: readonly unknown[]): Flaw[] {
  const first = new Map<unknown, number>();
  return definitions.flatMap((definition, index) => {
    const name = isTable(definition) ? definition.name : undefined;
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    if (typeof name !== 'string' || earlier === undefined) return [];
    const problem = `${showStep(index, 'name')} is ${showValue(name)}, as [${earlier}].name is. Use another name.`;
    return [{ at: [index, 'name'], problem }];
  });
}

function flaw(at: Flaw['at'], expected: string, value: unknown): Flaw {
  const [index = 0, ...rest] = at;
  const shown = value === undefined ? 'and is missing' : `not ${showValue(value)}`;
  return { at, problem: `${showStep(Number(index), ...rest)} must be ${expected}, ${shown}.` };
}

function showStep(index: number, ...rest: Flaw['at']): string {
  return rest.length === 0 ? `[${index}]` : `[${index}].${showKey(rest)}`;
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
