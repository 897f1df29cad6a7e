import type { JsonSchema } from '../contract/json.js';
import { isSchemaObject } from './map-schema.js';
import { showValue } from './show-value.js';

const MAX_LISTED_CHARACTERS = 300;

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

/** What a schema asks for, in a few words: `a string or null`, `an object with "path" and "kind": "file"`. */
export function describeSchema(schema: JsonSchema): string {
  if ('const' in schema) return showValue(schema.const);
  if (Array.isArray(schema.enum)) return `one of ${listChoices(schema.enum)}`;
  if (typeof schema.type === 'string') return describeType(schema.type, schema);
  if (Array.isArray(schema.type)) return schema.type.map((type) => describeType(type, schema)).join(' or ');
  if (isSchemaObject(schema.properties)) return describeObject(schema);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives) && alternatives.length <= 4) {
    return alternatives.map((part) => describeSchema(isSchemaObject(part) ? part : {})).join(' or ');
  }
  return 'what its schema says';
}

/** `"create", "overwrite", "append"`, as many as fit. */
export function listChoices(choices: readonly unknown[]): string {
  let text = '';
  for (const [at, choice] of choices.entries()) {
    const next = `${at === 0 ? '' : ', '}${showValue(choice)}`;
    if (text.length + next.length > MAX_LISTED_CHARACTERS) return `${text}, … (${choices.length} in all)`;
    text += next;
  }
  return text;
}

function describeType(type: unknown, schema: JsonSchema): string {
  if (type === 'object') return describeObject(schema);
  const kind = typeof type === 'string' && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  return kind ?? showValue(type);
}

function describeObject(schema: JsonSchema): string {
  const properties = isSchemaObject(schema.properties) ? schema.properties : {};
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const names = required.slice(0, 5).map((name) => {
    const property =
      typeof name === 'string' && Object.hasOwn(properties, name) ? properties[name] : undefined;
    const fixed = isSchemaObject(property) && 'const' in property ? `: ${showValue(property.const)}` : '';
    return `${showValue(name)}${fixed}`;
  });
  return names.length === 0 ? 'an object' : `an object with ${names.join(', ')}`;
}
