import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compileOutput } from './compile-output.js';

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
