import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isToolError } from '../errors/tool-error.js';
import type { CheckResult } from './checker.js';
import { compileInput } from './compile-schema.js';

describe('compileInput() with a Standard Schema', () => {
  const schema = z.strictObject({
    path: z.string(),
    count: z.int().min(1).optional(),
    line: z.int().optional(),
    when: z.iso.datetime().optional(),
    mode: z.enum(['create', 'overwrite']).default('create'),
    odd: z
      .number()
      .refine((n) => n % 2 === 1, 'must be odd')
      .optional(),
    of: z.union([z.string(), z.array(z.string())]).optional(),
  });

  it('hands on what the schema made of the value', () => {
    expect(compileInput(schema, 't').check({ path: 'x' })).toEqual({
      ok: true,
      value: { path: 'x', mode: 'create' },
    });
  });

  it('shows a JSON Schema without the noise', () => {
    expect(compileInput(schema, 't').jsonSchema).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string' },
        count: { type: 'integer', minimum: 1 },
        line: { type: 'integer' },
        when: { type: 'string', format: 'date-time' },
        mode: { type: 'string', enum: ['create', 'overwrite'], default: 'create' },
        odd: { type: 'number' },
        of: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      },
      required: ['path'],
      additionalProperties: false,
    });
  });

  it.each<[unknown, string]>([
    [{}, 'missing required property "path" (a string).'],
    [{ path: 1 }, '/path: expected a string, got 1.'],
    [
      { pth: 'x' },
      'missing required property "path" (a string); unknown property "pth" (did you mean "path"?).',
    ],
    [
      { path: 'x', mode: 'creat' },
      '/mode: expected one of "create", "overwrite", got "creat" (did you mean "create"?).',
    ],
    [{ path: 'x', count: 0 }, '/count: expected a number >= 1, got 0.'],
    [{ path: 'x', odd: 2 }, '/odd: must be odd, got 2.'],
    [{ path: 'x', when: 'now' }, '/when: Invalid ISO datetime, got "now".'],
    [{ path: 'x', of: [1] }, '/of/0: expected a string, got 1.'],
    [{ path: 1, odd: 2 }, '/path: expected a string, got 1; /odd: must be odd, got 2.'],
    ['x', 'expected an object, got the string "x".'],
  ])('says of %j what is wrong, each thing once', (args, message) => {
    expect(compileInput(schema, 't').check(args)).toMatchObject({
      ok: false,
      message: `Invalid arguments for t: ${message}`,
    });
  });

  it('answers with a promise only where the schema is asynchronous', async () => {
    const slow = z.object({ id: z.string().refine(async (id) => id === 'known', 'is not known') });
    const answer = compileInput(slow, 't').check({ id: 'other' });
    expect(answer).toBeInstanceOf(Promise);
    expect(await answer).toMatchObject({
      message: 'Invalid arguments for t: /id: is not known, got "other".',
    });
    expect(compileInput(schema, 't').check({ path: 'x' })).not.toBeInstanceOf(Promise);
  });

  it('refuses values when the schema itself throws or rejects', async () => {
    const failures = [
      () => {
        throw new Error('hunter2');
      },
      () => Promise.reject(new Error('hunter2')),
    ];
    for (const validate of failures) {
      const broken = {
        '~standard': {
          version: 1,
          vendor: 'other',
          validate,
          jsonSchema: { input: () => ({}), output: () => ({}) },
        },
      } as const;
      expect(messageOf(await compileInput(broken, 't').check({ a: '' }))).toBe(
        'Invalid arguments for t: the input schema of t cannot check this value (it threw an error).',
      );
    }
  });

  it('accepts any library that gives JSON Schema, even one whose schemas are functions', () => {
    const foreign = Object.assign(() => undefined, {
      '~standard': {
        version: 1,
        vendor: 'other',
        validate: (value: unknown) => ({
          issues: [{ message: 'no\u001b[2J!', path: [{ key: 'a' }, 0] }],
          value,
        }),
        jsonSchema: { input: () => ({ type: 'object', pattern: 'kept' }), output: () => ({}) },
      },
    } as const);
    const checker = compileInput(foreign, 't');
    expect(checker.jsonSchema).toEqual({ type: 'object', pattern: 'kept' });
    expect(messageOf(checker.check({ a: ['x'] }) as CheckResult)).toBe(
      'Invalid arguments for t: /a/0: no\\u001b[2J!, got "x".',
    );
  });

  it.each<[string, unknown, string]>([
    [
      'a schema without JSON Schema',
      { '~standard': { version: 1, vendor: 'plain', validate: () => ({ value: 1 }) } },
      'this schema of plain gives no JSON Schema. Use a schema library',
    ],
    [
      'what JSON Schema cannot say',
      z.object({ at: z.date() }),
      'cannot be derived: Date cannot be represented',
    ],
    ['arguments that are no object', z.string(), 'its type is "string"'],
  ])('refuses %s with the remedy', (_title, refused, message) => {
    const error = catchError(() => compileInput(refused as typeof schema, 't'));
    expect(isToolError(error, 'config_invalid')).toBe(true);
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
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
