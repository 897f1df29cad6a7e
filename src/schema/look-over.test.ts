import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../contract/json.js';
import { compileInput } from './compile-schema.js';
import { checkAgainstDialect } from './compile-with-ajv.js';
import { findValidator } from './json-validator.js';
import { lookOver } from './look-over.js';

/** Keywords with values that are often valid, and often belong to other keywords. */
const LEAVES: readonly unknown[] = [
  'string',
  'object',
  ['string', 'null'],
  ['string', 'string'],
  'a text',
  '^a+$',
  '(',
  0,
  1,
  -1,
  1.5,
  true,
  [],
  ['a', 'b'],
  ['a', 'a'],
  [1],
  {},
  null,
  { a: ['b'] },
];
const KEYWORDS = [
  '$comment $ref additionalProperties allOf anyOf const contains default definitions $defs dependentRequired',
  'dependentSchemas deprecated description else enum examples exclusiveMaximum format if items maxContains maxItems',
  'maximum minContains minLength minimum multipleOf not oneOf pattern patternProperties prefixItems properties',
  'propertyNames required then title type unevaluatedItems unevaluatedProperties uniqueItems x-own',
].flatMap((line) => line.split(' '));

const { schema: SCHEMA } = fc.letrec<{ schema: JsonSchema; value: unknown }>((tie) => ({
  schema: fc.dictionary(fc.constantFrom(...KEYWORDS), tie('value'), { maxKeys: 3 }),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...LEAVES),
    tie('schema'),
    fc.array(tie('schema'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', '^b$', 'constructor'), tie('schema'), { maxKeys: 2 }),
  ),
}));

describe('lookOver()', () => {
  it('accepts only what both dialects accept, and calls simple only what compiles', () => {
    fc.assert(
      fc.property(SCHEMA, (schema) => {
        const { isValid, isSimple } = lookOver(schema);
        if (isValid) {
          expect(checkAgainstDialect(schema, '2020-12')).toBeUndefined();
          expect(checkAgainstDialect(schema, 'draft-07')).toBeUndefined();
        }
        if (!isSimple) return;
        findValidator({ schema, dialect: '2020-12' }, 'a schema', 'known').accepts({ a: 1 });
        findValidator({ schema, dialect: 'draft-07' }, 'a schema', 'known').accepts({ a: 1 });
      }),
      { numRuns: 3_000 },
    );
  });

  it.each<[string, JsonSchema, boolean, boolean]>([
    ['what tools declare', { type: 'object', properties: { a: { enum: [1] } }, required: ['a'] }, true, true],
    ['a pattern', { properties: { a: { pattern: '^a' } } }, true, false],
    ['a reference', { properties: { a: { $ref: '#/$defs/x' } } }, true, false],
    ['a name of its own', { properties: { a: { $id: 'urn:a' } } }, false, false],
    ['a keyword that is not known', { properties: { a: { discriminator: {} } } }, false, false],
    ['a wrong value', { properties: { a: { minLength: '1' } } }, false, false],
  ])('describes %s', (_, schema, isValid, isSimple) => {
    expect(lookOver(schema)).toEqual({ isValid, isSimple });
  });
});

it('compileInput() still refuses at once what ajv refuses', () => {
  for (const wrong of [
    { properties: { a: { minLength: '1' } } },
    { properties: { a: { type: 'strin' } } },
    { properties: { a: { $ref: '#/$defs/x' } } },
    { properties: { a: { pattern: '(?=a)' } } },
    { properties: { a: { enum: [] } } },
  ])
    expect(() => compileInput(wrong, 't')).toThrow(/^Cannot use the input schema of t: /);
});
