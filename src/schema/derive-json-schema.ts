import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../contract/json.js';
import type { CheckerRole } from './compile-schema.js';
import { isSchemaObject, mapSchema, withoutKeywords } from './map-schema.js';
import { type SettledSchema, settleSchema, unusable } from './settle-schema.js';
import { showText } from './show-value.js';

const REMEDY =
  'Use a schema library that gives JSON Schema (zod 4.2 or later, arktype, valibot with @valibot/to-json-schema), ' +
  'or give a plain JSON Schema.';

/**
 * The JSON Schema of a Standard Schema, without what its library only adds as noise.
 *
 * @throws ToolError `config_invalid` when the schema gives none.
 */
export function deriveJsonSchema(
  schema: StandardSchemaV1,
  role: CheckerRole,
  direction: 'input' | 'output',
): SettledSchema {
  const { owner } = role;
  const { vendor } = schema['~standard'];
  const converter = findConverter(schema);
  if (converter === undefined) {
    throw unusable(owner, `this schema of ${showText(vendor, 40)} gives no JSON Schema. ${REMEDY}`);
  }
  let derived: unknown;
  try {
    derived = converter[direction]({ target: 'draft-2020-12' });
  } catch (cause) {
    const why = cause instanceof Error ? showText(cause.message, 200) : 'it gives none';
    throw unusable(owner, `its JSON Schema cannot be derived: ${why}. ${REMEDY}`, cause);
  }
  const plain = isSchemaObject(derived) ? mapSchema(derived, (node) => stripNoise(node, vendor)) : derived;
  return settleSchema(isSchemaObject(plain) ? withoutKeywords(plain, '$schema') : plain, role);
}

function findConverter(schema: StandardSchemaV1): StandardJSONSchemaV1.Converter | undefined {
  const standard: StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props> = schema['~standard'];
  return standard.jsonSchema;
}

/** zod bounds every integer by what is safe, and spells every format out as a pattern besides. */
function stripNoise(node: JsonSchema, vendor: string): JsonSchema {
  const { minimum, maximum, pattern, ...rest } = node;
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
    ...(pattern === undefined || (vendor === 'zod' && rest.format !== undefined) ? {} : { pattern }),
  };
}
