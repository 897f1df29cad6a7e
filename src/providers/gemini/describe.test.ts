import { describe, expect, it } from 'vitest';
import { describeTools } from '../describe/describe-tools.js';

const tool = (name: string, inputSchema: object = { type: 'object' }, description = '') => ({
  name,
  description,
  inputSchema: { ...inputSchema },
});
const geminiOf = (schema: object) => {
  const described = describeTools('gemini', [tool('t', { properties: { x: schema } })]);
  return described[0]?.functionDeclarations[0]?.parameters?.properties?.x;
};

describe('the schema of Gemini', () => {
  it.each<[string, object, object]>([
    ['a constant', { const: 'a' }, { enum: ['a'], type: 'string' }],
    ['a number', { const: 5 }, { description: 'One of: 5.', type: 'number' }],
    [
      'numbers with a description',
      { type: 'integer', enum: [1, 2], description: 'D' },
      { description: 'D\nOne of: 1, 2.', type: 'integer' },
    ],
    ['words and null', { enum: ['a', null] }, { enum: ['a'], nullable: true, type: 'string' }],
    ['an empty word', { enum: ['', 'a'] }, { description: 'One of: "", "a".', type: 'string' }],
    ['several types', { type: ['integer', 'string'] }, { anyOf: [{ type: 'integer' }, { type: 'string' }] }],
    ['null alone', { type: 'null' }, { type: 'string' }],
    [
      'a nullable alternative',
      { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }], description: 'D' },
      { description: 'D', minLength: '2', nullable: true, type: 'string' },
    ],
    [
      'alternatives, each with the description',
      { oneOf: [{ type: 'string' }, { type: 'number' }], description: 'D', default: 1 },
      {
        anyOf: [
          { description: 'D', type: 'string' },
          { description: 'D', type: 'number' },
        ],
      },
    ],
    ['constants', { oneOf: [{ const: 'a' }, { const: 'b' }] }, { enum: ['a', 'b'], type: 'string' }],
    [
      'a reference with a description',
      { allOf: [{ type: 'integer' }], description: 'D' },
      { description: 'D', type: 'integer' },
    ],
    [
      'all of several',
      { allOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: {} }, required: ['b'] }] },
      { properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['b'], type: 'object' },
    ],
    [
      'limits',
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9 },
      { maximum: 8, minimum: 1, type: 'integer' },
    ],
    [
      'a list of anything',
      { type: 'array', maxItems: 3 },
      { items: { type: 'string' }, maxItems: '3', type: 'array' },
    ],
    [
      'a tuple',
      { prefixItems: [{ type: 'string' }, { type: 'integer' }] },
      { items: { anyOf: [{ type: 'string' }, { type: 'integer' }] }, type: 'array' },
    ],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }, { type: 'object' }],
    ['formats', { type: 'string', format: 'uri' }, { type: 'string' }],
    ['a time', { type: 'string', format: 'date-time' }, { format: 'date-time', type: 'string' }],
    ['anything', {}, { type: 'string' }],
  ])('says %s', (_, schema, expected) => {
    expect(geminiOf(schema)).toEqual(expected);
  });

  it('writes references out, as far as that ends', () => {
    const node = { type: 'object', properties: { v: { type: 'string' }, next: { $ref: '#/$defs/node' } } };
    const described = describeTools('gemini', [
      tool('t', { properties: { list: { $ref: '#/$defs/node', description: 'L' } }, $defs: { node } }),
    ]);
    expect(described[0]?.functionDeclarations[0]?.parameters?.properties).toEqual({
      list: {
        description: 'L',
        properties: { next: { type: 'object' }, v: { type: 'string' } },
        type: 'object',
      },
    });
  });

  it('has no parameters for a tool without any', () => {
    expect(describeTools('gemini', [tool('t')])).toEqual([
      { functionDeclarations: [{ name: 't', description: '' }] },
    ]);
  });
});
