import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../contract/json.js';
import type { CheckResult } from './checker.js';
import { compileInput } from './compile-schema.js';

const WRITE_FILE = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    content: { type: 'string' },
    mode: { enum: ['create', 'overwrite', 'append'] },
    line: { type: 'integer', minimum: 1 },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 2 },
  },
  required: ['path', 'content'],
  additionalProperties: false,
} as const;

describe('explainErrors()', () => {
  const REF_FORMS = {
    $defs: {
      file: {
        type: 'object',
        properties: { kind: { const: 'file' }, path: { type: 'string' } },
        required: ['kind', 'path'],
        additionalProperties: false,
      },
      url: {
        type: 'object',
        properties: { kind: { const: 'url' }, url: { type: 'string' } },
        required: ['kind', 'url'],
      },
    },
    properties: { source: { oneOf: [{ $ref: '#/$defs/file' }, { $ref: '#/$defs/url' }] } },
  };

  it.each<[string, JsonSchema, unknown, string]>([
    ['const', { properties: { a: { const: { x: 1 } } } }, { a: 2 }, '/a: expected {"x":1}, got 2'],
    [
      'exclusiveMaximum',
      { properties: { a: { exclusiveMaximum: 3 } } },
      { a: 3 },
      '/a: expected a number < 3, got 3',
    ],
    ['multipleOf', { properties: { a: { multipleOf: 5 } } }, { a: 3 }, '/a: expected a multiple of 5, got 3'],
    [
      'minLength',
      { properties: { a: { minLength: 1 } } },
      { a: '' },
      '/a: expected at least 1 character, got 0 ("")',
    ],
    [
      'pattern',
      { properties: { a: { pattern: '^a+$' } } },
      { a: 'b' },
      '/a: expected a string that matches /^a+$/, got "b"',
    ],
    [
      'format',
      { properties: { a: { format: 'date' } } },
      { a: '1.1.70' },
      '/a: expected a string of format date, got "1.1.70"',
    ],
    ['minItems', { properties: { a: { minItems: 1 } } }, { a: [] }, '/a: expected at least 1 item, got 0'],
    [
      'uniqueItems',
      { properties: { a: { uniqueItems: true } } },
      {
        a: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      },
      '/a: expected no item twice',
    ],
    [
      'contains',
      { properties: { a: { contains: { type: 'null' } } } },
      { a: [1] },
      '/a: expected an array with at least 1 of: null, got [1]',
    ],
    ['minProperties', { minProperties: 1 }, {}, 'expected at least 1 property, got 0'],
    [
      'propertyNames',
      { propertyNames: { pattern: '^[a-z]+$' } },
      { 'A b': 1 },
      'the property name "A b" is not accepted',
    ],
    [
      'patternProperties',
      { patternProperties: { '^x-': { type: 'string' } } },
      { 'x-a': 1 },
      '/x-a: expected a string, got 1',
    ],
    ['not', { properties: { a: { not: { const: 1 } } } }, { a: 1 }, '/a: expected anything but 1, got 1'],
    ['false', { properties: { a: false } }, { a: 1 }, '/a: is not accepted here, got 1'],
    [
      'if, then',
      JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}'),
      { a: 1 },
      'missing required property "b".',
    ],
    [
      'nullable',
      { properties: { a: { type: ['string', 'null'] } } },
      { a: 1 },
      '/a: expected a string or null, got 1',
    ],
    [
      'anyOf of kinds',
      { properties: { a: { anyOf: [{ type: 'string' }, { type: 'array' }] } } },
      { a: 1 },
      '/a: expected a string or an array, got 1',
    ],
    [
      'anyOf, one kind meant',
      { properties: { a: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] } } },
      { a: [1] },
      '/a/0: expected a string, got 1',
    ],
    [
      'anyOf of required',
      { anyOf: [{ required: ['a'] }, { required: ['b'] }], properties: { c: { type: 'null' } } },
      { c: 1 },
      '/c: expected null, got 1',
    ],
    [
      'oneOf by tag',
      REF_FORMS,
      { source: { kind: 'file', pth: 'x' } },
      '/source: missing required property "path" (a string); /source: unknown property "pth" (did you mean "path"?)',
    ],
    [
      'oneOf, no tag fits',
      REF_FORMS,
      { source: { kind: 'dir' } },
      '/source: expected an object with "kind": "file", "path" or an object with "kind": "url", "url", got {"kind":"dir"}',
    ],
    [
      'oneOf, both fit',
      { properties: { a: { oneOf: [{ type: 'number' }, { type: 'integer' }] } } },
      { a: 1 },
      '/a: fits several of the allowed forms where exactly one must fit, got 1',
    ],
    [
      'allOf',
      { allOf: [{ properties: { a: { type: 'string' } } }, { required: ['b'] }] },
      { a: 1 },
      '/a: expected a string, got 1; missing required property "b".',
    ],
    [
      'a pointer',
      { properties: { 'a/b~c': { items: { type: 'null' } } } },
      { 'a/b~c': [0] },
      '/a~1b~0c/0: expected null, got 0',
    ],
  ])('explains %s', (_keyword, schema, args, message) => {
    const result = compileInput(schema, 't').check(args);
    expect(messageOf(result)).toContain(message);
    expect(messageOf(compileInput(schema, 't').check(args))).toBe(messageOf(result));
  });

  it('gives issues with the path of the value at fault', () => {
    const result = compileInput(WRITE_FILE, 't').check({ path: 'x', extra: 1, tags: [1] });
    expect(result).toMatchObject({
      issues: [
        { path: '/content', message: 'missing required property "content" (a string)' },
        { path: '/extra', message: expect.stringContaining('unknown property "extra"') },
        { path: '/tags/0', message: 'expected a string, got 1' },
      ],
    });
  });

  it('keeps controls, half characters and long values out of messages', () => {
    const checker = compileInput(WRITE_FILE, 't');
    const message = messageOf(
      checker.check({
        path: 'x',
        content: '',
        mode: `\u001b[2J\u202e\u0085${'🌍'.repeat(50_000)}`,
        ['\u0007k'.repeat(9_000)]: 1,
      }),
    );
    expect(message).toContain('got "\\u001b[2J\\u202e\\u0085🌍');
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(() => encodeURIComponent(message)).not.toThrow();
    expect(message.length).toBeLessThan(600);
  });

  it('reports at most ten issues and 1,500 characters', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`property_${at}`.repeat(12), { type: 'null' }]),
    );
    const args = Object.fromEntries(Object.keys(properties).map((name) => [name, 'x'.repeat(500)]));
    const result = compileInput({ type: 'object', properties }, 't').check(args);
    expect(result).toMatchObject({ ok: false, issues: { length: 10 } });
    expect(messageOf(result).length).toBeLessThanOrEqual(1_500);
    expect(messageOf(result)).toMatch(/; and \d+ more faults\.$/);
  });

  it('answers soon for many faults, many items, and a hostile pattern', () => {
    const checker = compileInput(
      {
        type: 'object',
        properties: {
          list: {
            type: 'array',
            items: { anyOf: [{ type: 'string' }, { type: 'object', required: ['a'] }] },
          },
          set: { type: 'array', uniqueItems: true },
          text: { type: 'string', pattern: '^(a+)+$' },
        },
      },
      't',
    );
    const started = performance.now();
    expect(checker.check({ list: Array.from({ length: 99_000 }, () => 1) })).toMatchObject({ ok: false });
    expect(checker.check({ set: Array.from({ length: 50_000 }, (_, at) => [at]) })).toMatchObject({
      ok: true,
    });
    expect(checker.check({ text: `${'a'.repeat(100_000)}!` })).toMatchObject({ ok: false });
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

function messageOf(result: CheckResult | Promise<CheckResult>): string {
  if (result instanceof Promise || result.ok) throw new Error('A refusal was expected.');
  return result.message;
}
