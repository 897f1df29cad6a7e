import type { JsonObject, JsonSchema, JsonValue } from '../contract/json.js';
import type { Checker } from '../schema/checker.js';

/**
 * Arguments that a schema accepts, built from its examples, defaults and types; undefined if that is not
 * enough.
 */
export function sampleArguments(schema: JsonSchema, input: Checker): JsonObject | undefined {
  const sample = sampleObject(schema);
  const checked = input.check(sample);
  return !(checked instanceof Promise) && checked.ok ? sample : undefined;
}

function sampleObject(schema: JsonSchema): JsonObject {
  const [example] = listOf(schema.examples);
  if (isObject(example)) return example as JsonObject;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const names = listOf(schema.required).filter((name) => typeof name === 'string');
  return Object.fromEntries(names.map((name) => [name, sampleValue(properties[name])]));
}

function sampleValue(schema: unknown): JsonValue {
  if (!isObject(schema)) return 'example';
  const given = [schema.const, schema.default, listOf(schema.examples)[0], listOf(schema.enum)[0]];
  const known = given.find((value) => value !== undefined);
  if (known !== undefined) return known as JsonValue;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1;
    case 'boolean':
      return false;
    case 'array':
      return typeof schema.minItems === 'number' && schema.minItems > 0 ? [sampleValue(schema.items)] : [];
    case 'object':
      return sampleObject(schema);
    case 'null':
      return null;
    default:
      return 'example';
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
