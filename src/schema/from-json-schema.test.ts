import { describe, expectTypeOf, it } from 'vitest';
import type { JsonSchema } from '../contract/json.js';
import type { FromJsonSchema } from './from-json-schema.js';

// `const` and a generic type take the place of the author's `as const`.
function typed<const S>(_schema: S): FromJsonSchema<S> {
  return undefined as FromJsonSchema<S>;
}

describe('FromJsonSchema', () => {
  it('knows required and optional properties', () => {
    const args = typed({
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1 },
        count: { type: 'integer' },
        ratio: { type: 'number' },
        force: { type: 'boolean' },
      },
      required: ['path', 'count'],
      additionalProperties: false,
    });
    expectTypeOf(args).toEqualTypeOf<{
      readonly path: string;
      readonly count: number;
      readonly ratio?: number;
      readonly force?: boolean;
    }>();
  });

  it('takes all properties for optional where nothing is required', () => {
    expectTypeOf(typed({ type: 'object', properties: { a: { type: 'null' } } })).toEqualTypeOf<{
      readonly a?: null;
    }>();
    expectTypeOf(typed({ properties: { a: { type: 'string' } } })).toEqualTypeOf<{ readonly a?: string }>();
  });

  it('knows a required property that is not described as unknown', () => {
    expectTypeOf(typed({ type: 'object', properties: {}, required: ['a'] })).toEqualTypeOf<{
      readonly a: unknown;
    }>();
  });

  it('knows enums, constants and nullable types', () => {
    expectTypeOf(typed({ enum: ['create', 'append', 3, null] })).toEqualTypeOf<
      'create' | 'append' | 3 | null
    >();
    expectTypeOf(typed({ type: 'string', enum: ['a', 'b'] })).toEqualTypeOf<'a' | 'b'>();
    expectTypeOf(typed({ const: 'x' })).toEqualTypeOf<'x'>();
    expectTypeOf(typed({ type: ['string', 'null'] })).toEqualTypeOf<string | null>();
    expectTypeOf(typed({ type: ['integer', 'string', 'boolean'] })).toEqualTypeOf<
      number | string | boolean
    >();
  });

  it('knows arrays, nested objects and closed tuples', () => {
    const schema = {
      type: 'array',
      items: { type: 'object', properties: { old: { type: 'string' } }, required: ['old'] },
    } as const;
    expectTypeOf<FromJsonSchema<typeof schema>>().toEqualTypeOf<readonly { readonly old: string }[]>();
    expectTypeOf(typed({ type: 'array' })).toEqualTypeOf<readonly unknown[]>();
    expectTypeOf(
      typed({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false }),
    ).toEqualTypeOf<readonly [string?, number?]>();
    expectTypeOf(typed({ type: 'array', prefixItems: [{ type: 'string' }] })).toEqualTypeOf<
      readonly unknown[]
    >();
  });

  it('makes a union of anyOf and oneOf', () => {
    expectTypeOf(
      typed({ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }),
    ).toEqualTypeOf<string | readonly string[]>();
    expectTypeOf(
      typed({
        oneOf: [
          {
            type: 'object',
            properties: { kind: { const: 'a' }, x: { type: 'string' } },
            required: ['kind', 'x'],
          },
          { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
        ],
      }),
    ).toEqualTypeOf<{ readonly kind: 'a'; readonly x: string } | { readonly kind: 'b' }>();
  });

  it('knows maps', () => {
    expectTypeOf(typed({ type: 'object', additionalProperties: { type: 'number' } })).toEqualTypeOf<{
      readonly [name: string]: number;
    }>();
    expectTypeOf(typed({ type: 'object' })).toEqualTypeOf<{ readonly [name: string]: unknown }>();
  });

  it('is unknown, never any, for what it cannot tell', () => {
    expectTypeOf(typed({})).toBeUnknown();
    expectTypeOf(typed({ $ref: '#/$defs/x' })).toBeUnknown();
    expectTypeOf(typed({ allOf: [{ type: 'string' }] })).toBeUnknown();
    expectTypeOf(typed({ type: 'strng' })).toBeUnknown();
    expectTypeOf<FromJsonSchema<JsonSchema>>().toBeUnknown();
    expectTypeOf<FromJsonSchema<{ type: string }>>().toBeUnknown();
    // biome-ignore lint/suspicious/noExplicitAny: it must not come through.
    expectTypeOf<FromJsonSchema<any>>().toBeUnknown();
    expectTypeOf(typed({ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] })).toEqualTypeOf<{
      readonly a: unknown;
    }>();
  });
});
