import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isToolError } from '../errors/tool-error.js';
import type { CheckResult } from './checker.js';
import { compileInput, compileOutput } from './compile-schema.js';

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

const DIALECT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
    u: { $ref: '#/$defs/u' },
    s: { type: 'string', maxLength: 2 },
    tree: { $ref: '#/$defs/tree' },
  },
  $defs: {
    u: { type: 'object', properties: { k: { const: 1 } }, unevaluatedProperties: false },
    tree: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/tree' } } } },
  },
  dependentRequired: { a: ['b'] },
};

describe('compileInput() with a JSON Schema', () => {
  it('hands on the very value it checked: no copy, no coercion, no defaults', () => {
    const checker = compileInput({ type: 'object', properties: { n: { type: 'integer', default: 3 } } }, 't');
    const args = Object.freeze({ other: 1 });
    expect(checker.check(args)).toEqual({ ok: true, value: { other: 1 } });
    expect((checker.check(args) as { value: unknown }).value).toBe(args);
    expect(checker.check({ n: '1' })).toMatchObject({ ok: false });
  });

  it.each<[unknown, string]>([
    [{ path: 'x' }, 'missing required property "content" (a string).'],
    [{ path: 1, content: '' }, '/path: expected a string, got 1.'],
    [{ path: null, content: '' }, '/path: expected a string, got null.'],
    [{ path: 'x', content: '', line: 0 }, '/line: expected a number >= 1, got 0.'],
    [{ path: 'x', content: '', line: true }, '/line: expected an integer, got true.'],
    [{ path: 'x', content: '', line: '5' }, '/line: expected an integer, got the string "5".'],
    [{ path: 'x', content: '', line: 1.5 }, '/line: expected an integer, got 1.5.'],
    [{ path: 'x', content: '', tags: ['a', 1] }, '/tags/1: expected a string, got 1.'],
    [{ path: 'x', content: '', tags: ['a', 'b', 'c'] }, '/tags: expected at most 2 items, got 3.'],
    [
      { path: 'x', content: '', mode: 'creat' },
      '/mode: expected one of "create", "overwrite", "append", got "creat" (did you mean "create"?).',
    ],
    [
      { path: 'x', content: '', contents: '' },
      'unknown property "contents" (known: "path", "content", "mode", "line", "tags").',
    ],
    [
      { pth: 'x', content: '' },
      'missing required property "path" (a string); unknown property "pth" (did you mean "path"?).',
    ],
    [
      { path: 'x', content: '', Path: 'y' },
      'unknown property "Path" (known: "path", "content", "mode", "line", "tags").',
    ],
    ['x', 'expected an object, got the string "x".'],
    [[], 'expected an object, got [].'],
    [undefined, 'expected an object, got undefined.'],
  ])('says of %j what is wrong', (args, message) => {
    const result = compileInput(WRITE_FILE, 'write_file').check(args);
    expect(result).toMatchObject({ ok: false, message: `Invalid arguments for write_file: ${message}` });
  });

  it.each<[unknown, string | true]>([
    [{ u: { k: 1 } }, true],
    [{ a: 1, b: 2 }, true],
    [{ pair: ['x', 1] }, true],
    [{ s: '🌍🌍' }, true],
    [{ tree: { children: [{ children: [] }] } }, true],
    [{ u: { k: 2 } }, '/u/k: expected 1, got 2.'],
    [{ u: { kk: 1 } }, '/u: unknown property "kk" (known: "k").'],
    [{ a: 1 }, 'missing property "b", which is required when "a" is present.'],
    [{ pair: ['x', 1, 2] }, '/pair: expected at most 2 items, got 3.'],
    [{ pair: [1] }, '/pair/0: expected a string, got 1.'],
    [{ s: '🌍🌍🌍' }, '/s: expected at most 2 characters, got 3 ("🌍🌍🌍").'],
    [{ tree: { children: [{ children: 5 }] } }, '/tree/children/0/children: expected an array, got 5.'],
  ])('speaks 2020-12: %j', (args, expected) => {
    const result = compileInput(DIALECT, 't').check(args);
    expect(result).toMatchObject(
      expected === true ? { ok: true } : { ok: false, message: `Invalid arguments for t: ${expected}` },
    );
  });

  it('speaks draft-07 where the schema says so', () => {
    for (const $schema of [
      'http://json-schema.org/draft-07/schema#',
      'https://json-schema.org/draft-07/schema',
    ]) {
      const checker = compileInput(
        {
          $schema,
          type: 'object',
          properties: {
            pair: { items: [{ type: 'string' }], additionalItems: false },
            a: {},
            c: { $ref: '#' },
          },
          dependencies: { a: ['b'] },
        },
        't',
      );
      expect(checker.check({ pair: ['x'] })).toMatchObject({ ok: true });
      expect(messageOf(checker.check({ pair: ['x', 'y'] }))).toContain(
        '/pair: expected at most 1 item, got 2',
      );
      expect(messageOf(checker.check({ c: { a: 1 } }))).toContain(
        '/c: missing property "b", which is required',
      );
    }
  });

  it.each([
    [19.99, 0.01, true],
    [0.3, 0.1, true],
    [-0.07, 0.01, true],
    [1e21, 1, true],
    [1e-7, 1e-9, true],
    [9_007_199_254_740_994, 2, true],
    [0, 0.1, true],
    [19.995, 0.01, false],
    [1e-9, 1e-7, false],
    [7, 2, false],
  ])(
    'takes %d for a multiple of %d as decimals: %s (19.99 was no multiple of 0.01)',
    (n, step, isMultiple) => {
      const schema = { type: 'object', properties: { n: { type: 'number', multipleOf: step } } } as const;
      const result = compileInput(schema, 'pay').check({ n });
      if (isMultiple) expect(result).toMatchObject({ ok: true });
      else {
        const message = `Invalid arguments for pay: /n: expected a multiple of ${step}, got ${n}.`;
        expect(result).toMatchObject({ ok: false, message });
      }
    },
  );

  it('takes names that every object inherits for names like any other', () => {
    const checker = compileInput(
      { type: 'object', properties: { constructor: { type: 'string' } }, required: ['toString'] },
      't',
    );
    expect(messageOf(checker.check({}))).toContain('missing required property "toString"');
    expect(checker.check({ toString: 1 })).toMatchObject({ ok: true });
    expect(checker.check(JSON.parse('{"toString":1,"constructor":1}'))).toMatchObject({ ok: false });
  });

  it('shows a frozen copy of the schema, whatever becomes of the original', () => {
    const schema: { type: string; required: string[] } = { type: 'object', required: ['a'] };
    const checker = compileInput(schema, 't');
    schema.required.push('b');
    expect(checker.jsonSchema).toEqual({ type: 'object', required: ['a'] });
    expect(checker.jsonSchema).toBe(checker.jsonSchema);
    expect(Object.isFrozen(checker.jsonSchema.required)).toBe(true);
    expect(checker.check({ a: 1 })).toMatchObject({ ok: true });
  });

  it('keeps schemas with one $id apart', () => {
    const one = compileInput({ $id: 'https://example.org/s', type: 'object', required: ['a'] }, 'one');
    const two = compileInput({ $id: 'https://example.org/s', type: 'object', required: ['b'] }, 'two');
    expect(one.check({ a: 1 })).toMatchObject({ ok: true });
    expect(two.check({ b: 1 })).toMatchObject({ ok: true });
    expect(two.check({ a: 1 })).toMatchObject({ ok: false });
  });

  it('does not let one refused schema spoil the next', () => {
    catchError(() => compileInput({ $ref: '#/$defs/x' }, 'bad'));
    expect(
      compileInput({ $ref: '#/$defs/x', $defs: { x: { required: ['a'] } } }, 'good').check({}),
    ).toMatchObject({ ok: false });
  });

  it('keeps the patterns of one schema, and of several, apart', () => {
    const two = compileInput({ properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } }, 'two');
    const one = compileInput({ properties: { a: { pattern: '^c$' } } }, 'one');
    expect(two.check({ a: 'a', b: 'b' })).toMatchObject({ ok: true });
    expect(two.check({ a: 'b' })).toMatchObject({ ok: false });
    expect(two.check({ b: 'a' })).toMatchObject({ ok: false });
    expect(one.check({ a: 'c' })).toMatchObject({ ok: true });
    expect(one.check({ a: 'a' })).toMatchObject({ ok: false });
  });

  it('continues after more schemas than are kept', () => {
    const first = compileInput({ title: 'first', required: ['a'] }, 't');
    for (let at = 0; at < 600; at++) compileInput({ title: `number ${at}`, required: ['b'] }, 't');
    expect(first.check({ a: 1 })).toMatchObject({ ok: true });
    expect(first.check({ b: 1 })).toMatchObject({ ok: false });
    expect(compileInput({ title: 'last', required: ['c'] }, 't').check({ c: 1 })).toMatchObject({ ok: true });
  });

  it('finds at first use the faults that it skipped before', () => {
    const checker = compileInput({ properties: { a: { $ref: '#/$defs/x' } } }, 't', { when: 'first_use' });
    expect(
      isToolError(
        catchError(() => checker.check({})),
        'config_invalid',
      ),
    ).toBe(true);
    const good = compileInput(WRITE_FILE, 't', { when: 'first_use' });
    expect(good.jsonSchema).toEqual(WRITE_FILE);
    expect(good.check({ path: '', content: '' })).toMatchObject({ ok: true });
  });
});

function messageOf(result: CheckResult | Promise<CheckResult>): string {
  if (result instanceof Promise || result.ok) throw new Error('A refusal was expected.');
  return result.message;
}

function catchError(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}

describe('compileOutput()', () => {
  it('takes any kind of value and says whose output is wrong', () => {
    const checker = compileOutput({ type: 'array', items: { type: 'integer' } }, 'count_lines');
    expect(checker.check([1, 2])).toEqual({ ok: true, value: [1, 2] });
    expect(checker.check([1, 'x'])).toMatchObject({
      message: 'Invalid structured output of count_lines: /1: expected an integer, got the string "x".',
    });
  });

  it('shows what comes out of a Standard Schema and explains by what goes in', () => {
    const checker = compileOutput(z.object({ a: z.string(), b: z.string().default('x') }), 't');
    expect(checker.jsonSchema).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string', default: 'x' } },
      required: ['a', 'b'],
      additionalProperties: false,
    });
    expect(checker.check({ a: '', extra: 1 })).toEqual({ ok: true, value: { a: '', b: 'x' } });
    expect(checker.check({ a: 1, extra: 1 })).toMatchObject({
      message: 'Invalid structured output of t: /a: expected a string, got 1.',
    });
  });
});
