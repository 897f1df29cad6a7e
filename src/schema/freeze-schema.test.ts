import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../contract/json.js';
import { isToolError } from '../errors/tool-error.js';
import { compileInput } from './compile-schema.js';

describe('freezeSchema()', () => {
  it.each<[string, unknown]>([
    [
      'annotations and extensions',
      {
        'x-order': 1,
        example: {},
        markdownDescription: 'x',
        properties: { a: { id: 'a', deprecated: true } },
      },
    ],
    ['nullable without a type', { properties: { a: { nullable: true } } }],
    ['unknown formats', { properties: { a: { type: 'string', format: 'color' } } }],
    [
      'properties named like keywords',
      { properties: { requried: {}, $async: {}, Type: { type: 'string' } } },
    ],
    ['a maximum beyond 2^53', { properties: { a: { maximum: 2 ** 64 } } }],
    ['an empty schema', {}],
    ['empty lists that ask for nothing', { allOf: [], properties: { a: { prefixItems: [] } } }],
    ['a root that refers to itself', { properties: { child: { $ref: '#' } } }],
  ])('accepts %s', (_title, schema) => {
    expect(compileInput(schema as JsonSchema, 't').check({ a: 'x' })).toMatchObject({ ok: true });
  });

  const cycle: Record<string, unknown> = { type: 'object' };
  cycle.properties = { self: cycle };
  let deep: JsonSchema = {};
  for (let level = 0; level < 5_000; level++) deep = { properties: { a: deep } };

  it.each<[string, unknown, string]>([
    ['a misspelt keyword', { requried: ['a'] }, 'unknown keyword "requried". Did you mean "required"?'],
    ['a keyword in the wrong case', { properties: { a: { minlength: 1 } } }, 'Did you mean "minLength"?'],
    ['an unknown type', { properties: { a: { type: 'strng' } } }, '/properties/a/type is "strng"'],
    ['required that is no list', { required: 'a' }, '/required is "a" and must be array'],
    ['a negative length', { properties: { a: { minLength: -1 } } }, '/properties/a/minLength is -1'],
    ['a reference into nothing', { $ref: '#/$defs/x' }, 'its reference "#/$defs/x" leads nowhere'],
    [
      'a remote reference',
      { properties: { a: { $ref: 'https://x.org/y.json' } } },
      '"https://x.org/y.json" leads nowhere',
    ],
    ['a reference to itself', { $ref: '#' }, 'refers to itself without end'],
    [
      'a property that refers to itself',
      { properties: { a: { $ref: '#/properties/a' } } },
      'refers to itself',
    ],
    ['$async', { $async: true }, '"$async"'],
    ['$async below', { properties: { a: { anyOf: [{ $async: true }] } } }, '"$async"'],
    [
      'another dialect',
      { $schema: 'http://json-schema.org/draft-04/schema#' },
      'Use JSON Schema 2020-12 (the default) or draft-07',
    ],
    [
      'the name of JSON Schema itself',
      { $id: 'https://json-schema.org/draft/2020-12/schema' },
      'Use one of your own',
    ],
    [
      'a look-ahead',
      { properties: { a: { pattern: '(?=a)b' } } },
      'the pattern "(?=a)b" cannot be matched in linear time',
    ],
    ['no pattern', { properties: { a: { pattern: '(' } } }, 'is not a regular expression'],
    ['a type that is no object', { type: 'string' }, 'Use "type": "object"'],
    ['a list', [], 'it is []'],
    [
      'a getter',
      Object.defineProperty({}, 'type', { enumerable: true, get: () => 'object' }),
      'is an accessor',
    ],
    ['a cycle', cycle, 'contains itself'],
    ['depth without end', deep, 'nested deeper than'],
    ['a function', { properties: { a: () => 1 } }, '/properties/a is a function'],
    ['null', null, 'it is null'],
  ])('refuses %s, naming the tool', (_title, schema, message) => {
    const error = catchError(() => compileInput(schema as JsonSchema, 'my_tool'));
    expect(isToolError(error, 'config_invalid')).toBe(true);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^Cannot use the input schema of my_tool: /),
    });
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
  });
});

function catchError(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}
