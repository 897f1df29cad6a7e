import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isToolError } from '../../errors/tool-error.js';
import { readCalls } from '../read-calls.js';
import type { WireFormat } from '../registry.js';
import { describeTools } from './describe-tools.js';

const FORMATS: readonly WireFormat[] = [
  'native',
  'fenced',
  'anthropic',
  'openai',
  'openai-responses',
  'gemini',
];
const tool = (name: string, inputSchema: object = { type: 'object' }, description = '') => ({
  name,
  description,
  inputSchema: { ...inputSchema },
});
const inputOf = (schema: object) => describeTools('anthropic', [tool('t', schema)])[0]?.input_schema;

function problemOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isToolError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** The same value with every object's keys in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, shuffled(member)]),
  );
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

describe('describeTools()', () => {
  const word = fc.string({ maxLength: 3 });
  const schema = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'schema' },
      fc.record(
        {
          type: fc.constantFrom('string', 'integer', 'object', 'array', ['string', 'null']),
          description: word,
          enum: fc.array(fc.oneof(word, fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 3 }),
          const: fc.oneof(word, fc.integer()),
          properties: fc.dictionary(word, tie('node'), { maxKeys: 3 }),
          required: fc.uniqueArray(word, { maxLength: 3 }),
          items: fc.oneof(tie('node'), fc.array(tie('node'), { maxLength: 2 }), fc.boolean()),
          $ref: fc.constantFrom('#', '#/properties/a', '#/$defs/none', 'http://x'),
          minLength: fc.nat(),
          minimum: fc.double(),
        },
        { requiredKeys: [] },
      ),
      fc.record({ anyOf: fc.array(tie('node'), { maxLength: 3 }) }),
      fc.record({ oneOf: fc.array(tie('node'), { maxLength: 3 }), description: word }),
      fc.record({ allOf: fc.array(tie('node'), { maxLength: 3 }) }),
    ),
  })).node as fc.Arbitrary<object>;

  it('gives the same bytes whatever the order, sorted by name, and changes nothing (D112)', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...FORMATS),
        fc.uniqueArray(fc.tuple(fc.string(), schema), { selector: ([name]) => name, maxLength: 3 }),
        (format, named) => {
          const clean = (value: object): object => JSON.parse(JSON.stringify(value));
          const tools = frozen(named.map(([name, input]) => tool(name, clean(input))));
          const others = tools
            .map((one) => ({ ...one, inputSchema: shuffled(one.inputSchema) as object }))
            .reverse()
            .map(({ name, inputSchema }) => tool(name, inputSchema));
          const text = JSON.stringify(describeTools(format, tools));
          if (format !== 'native' && format !== 'fenced') {
            expect(JSON.stringify(describeTools(format, others))).toBe(text);
          }
          const names = describeTools('openai', tools).map((one) => one.function.name);
          expect(names).toEqual([...names].sort());
        },
      ),
      { numRuns: 60 },
    );
  });

  it('gives every provider what it takes, whatever the schema', () => {
    const words = new Set(
      'anyOf default description enum format items maxItems maxLength maximum minItems minLength minimum nullable pattern properties required title type'.split(
        ' ',
      ),
    );
    const check = (node: { [key: string]: unknown }): void => {
      expect(Object.keys(node).filter((key) => !words.has(key))).toEqual([]);
      if (node.anyOf === undefined) expect(node.type).toBeTypeOf('string');
      else expect(Object.keys(node)).toEqual(['anyOf']);
      if (node.type === 'array') expect(node.items).toBeTypeOf('object');
      if (node.enum !== undefined) expect(node).toMatchObject({ type: 'string' });
      for (const value of (node.enum as unknown[] | undefined) ?? []) expect(value).not.toBe('');
      const properties = Object.values((node.properties as object | undefined) ?? {});
      const inner = [...properties, ...((node.anyOf as object[] | undefined) ?? []), node.items ?? []];
      for (const one of inner.flat()) check(one as { [key: string]: unknown });
      const names = Object.keys((node.properties as object | undefined) ?? {});
      for (const name of (node.required as string[] | undefined) ?? []) expect(names).toContain(name);
    };
    fc.assert(
      fc.property(schema, (input) => {
        const clean: object = JSON.parse(JSON.stringify(input));
        const [openai] = describeTools('openai', [tool('t', clean)]);
        const top = openai?.function.parameters;
        expect(top).toMatchObject({ type: 'object', properties: expect.any(Object) });
        for (const word of ['anyOf', 'oneOf', 'allOf', 'enum', 'not', '$ref', '$schema']) {
          expect(top).not.toHaveProperty([word]);
        }
        const parameters = describeTools('gemini', [tool('t', clean)])[0]?.functionDeclarations[0]
          ?.parameters;
        if (parameters !== undefined) check({ ...parameters });
      }),
      { numRuns: 150 },
    );
  });

  it('refuses a value that is not a tool, a schema or a format, by name', () => {
    expect(problemOf(() => describeTools('soap' as 'native', []))).toContain(
      'config_invalid: There is no wire',
    );
    expect(problemOf(() => describeTools('openai', [null as never]))).toContain(
      'config_invalid: Cannot describe null',
    );
    expect(problemOf(() => describeTools('openai', [tool('a'), tool('a')]))).toContain('duplicate_tool');
    const wrong = (input: unknown) => problemOf(() => describeTools('openai', [{ name: 'x', input }]));
    expect(wrong(undefined)).toContain('Cannot describe the tool "x": its input schema is not a JSON Schema');
    expect(wrong('object')).toContain('it is the string "object"');
    expect(wrong([])).toContain('it is an array');
    expect(wrong({ type: () => 1 })).toContain('it holds a function');
    expect(wrong({ minimum: Number.NaN })).toContain('it holds the number NaN');
    const cyclic: { items?: object } = {};
    cyclic.items = cyclic;
    expect(wrong(cyclic)).toContain('nested deeper than 256 levels');
    const trap = Object.defineProperty({}, 'type', {
      enumerable: true,
      get: () => {
        throw new Error('boo');
      },
    });
    expect(wrong(trap)).toContain('boo');
  });

  it('takes a schema of a library that says what it is', () => {
    const input = z.object({ path: z.string(), lines: z.tuple([z.int(), z.int()]).optional() });
    expect(describeTools('anthropic', [{ name: 'read', input }])[0]?.input_schema).toMatchObject({
      properties: { path: { type: 'string' }, lines: { type: 'array', prefixItems: [{}, {}] } },
      required: ['path'],
    });
  });

  it('gives nothing for no tools', () => {
    expect(FORMATS.map((format) => describeTools(format, []))).toEqual([[], '', [], [], [], []]);
  });
});

describe('the names', () => {
  const MCP = 'mcp.example.com/search files';

  it('stay where the provider takes them', () => {
    const names = ['a', 'B-2', '_x', '9lives', 'x'.repeat(64)];
    const shown = describeTools(
      'anthropic',
      names.map((name) => tool(name)),
    );
    expect(shown.map(({ name }) => name)).toEqual([...names].sort());
    const gemini = describeTools(
      'gemini',
      ['a.b:c-d', '9lives'].map((name) => tool(name)),
    );
    expect(gemini[0]?.functionDeclarations.map(({ name }) => name)).toEqual([
      expect.stringMatching(/^_9lives_[0-9a-f]{8}$/),
      'a.b:c-d',
    ]);
    expect(describeTools('native', [tool(MCP)])[0]?.name).toBe(MCP);
    expect(describeTools('fenced', [tool(MCP)])).toContain(`## ${MCP}\n`);
  });

  it('are short, allowed and never two alike, and are turned back', () => {
    const name = fc.oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(MCP, 'a.b', 'a/b', 'a b', '', 'x'.repeat(65), 'x'.repeat(66), '__proto__', 'toString'),
    );
    const rules = [
      ['anthropic', /^[a-zA-Z0-9_-]{1,64}$/],
      ['openai', /^[a-zA-Z0-9_-]{1,64}$/],
      ['openai-responses', /^[a-zA-Z0-9_-]{1,64}$/],
      ['gemini', /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/],
    ] as const;
    fc.assert(
      fc.property(fc.constantFrom(...rules), fc.uniqueArray(name), ([format, rule], names) => {
        const tools = names.map((one) => tool(one, undefined, one));
        const shown = describeTools(format, tools).flatMap((one): { name: string; description: string }[] => {
          if ('functionDeclarations' in one) return one.functionDeclarations;
          return 'function' in one ? [one.function] : [one];
        });
        expect(new Set(shown.map((one) => one.name)).size).toBe(names.length);
        for (const one of shown) {
          expect(one.name).toMatch(rule);
          const input = { parts: [{ functionCall: { id: 'i', name: one.name } }] };
          const block = [{ type: 'tool_use', id: 'i', name: one.name, input: {} }];
          if (one.description === '') continue;
          if (format === 'gemini') expect(readCalls(input, { tools }).calls[0]?.name).toBe(one.description);
          if (format === 'anthropic')
            expect(readCalls(block, { tools }).calls[0]?.name).toBe(one.description);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('do not depend on what else there is, unless that has the very name', () => {
    const alone = describeTools('openai', [tool(MCP)])[0]?.function.name ?? '';
    expect(alone).toBe('mcp_example_com_search_files_44713810');
    const both = describeTools('openai', [tool(MCP), tool('other.one'), tool(alone)]);
    expect(both.map((one) => one.function.name).filter((one) => one.startsWith('mcp'))).toHaveLength(2);
    expect(describeTools('openai', [tool('other.one'), tool(MCP)])[0]?.function.name).toBe(alone);
  });

  it('are given back to the model as it knows them', () => {
    const tools = [tool(MCP)];
    const shown = describeTools('gemini', tools)[0]?.functionDeclarations[0]?.name ?? '';
    const read = readCalls({ parts: [{ functionCall: { id: 'i', name: shown, args: 5 } }] }, { tools });
    expect(read).toMatchObject({
      errors: [{ name: MCP, message: expect.stringContaining(`the call of "${shown.slice(0, 40)}`) }],
      origins: [{ callId: 'i', name: shown }],
    });
  });
});

describe('the schema of a function', () => {
  it('is an object without combinations at its top', () => {
    expect(inputOf({})).toEqual({ properties: {}, type: 'object' });
    expect(inputOf({ type: ['object', 'null'], enum: [null], not: {} })).toEqual({
      properties: {},
      type: 'object',
    });
    const a = { type: 'object', properties: { op: { const: 'a' }, x: {} }, required: ['op', 'x'] };
    const b = {
      properties: { op: { const: 'b' }, x: { type: 'string' } },
      required: ['op'],
      additionalProperties: false,
    };
    const merged = {
      properties: { op: { enum: ['a', 'b'] }, x: { anyOf: [{}, { type: 'string' }] } },
      required: ['op'],
      type: 'object',
    };
    expect(inputOf({ oneOf: [a, b] })).toEqual(merged);
    expect(
      inputOf({ $ref: '#/$defs/u', $defs: { u: { anyOf: [a, { $ref: '#/$defs/b' }] }, b } }),
    ).toMatchObject(merged);
    expect(inputOf({ allOf: [a, { properties: { y: {} }, required: ['y'] }] })).toEqual({
      properties: { op: { const: 'a' }, x: {}, y: {} },
      required: ['op', 'x', 'y'],
      type: 'object',
    });
  });

  it('keeps what it refers to, and a property that is called like a keyword', () => {
    const schema = {
      properties: {
        $ref: { $ref: '#/$defs/a~1b' },
        items: { type: 'array' },
        required: { default: { z: 1, a: 2 } },
      },
      $defs: { 'a/b': { type: 'string' } },
    };
    expect(describeTools('openai', [tool('t', schema)])[0]?.function.parameters).toEqual({
      $defs: { 'a/b': { type: 'string' } },
      properties: {
        $ref: { $ref: '#/$defs/a~1b' },
        items: { items: {}, type: 'array' },
        required: { default: { z: 1, a: 2 } },
      },
      type: 'object',
    });
  });

  it('says tuples in the words of 2020-12', () => {
    const tuple = { type: 'array', items: [{ type: 'string' }], additionalItems: false };
    expect(inputOf({ properties: { t: tuple } })?.properties).toEqual({
      t: { items: false, prefixItems: [{ type: 'string' }], type: 'array' },
    });
  });

  it('leaves out properties whose names the provider refuses, and says so', () => {
    const schema = { properties: { 'a b': {}, c: {}, ['x'.repeat(65)]: {} }, required: ['a b', 'c'] };
    const [described] = describeTools('anthropic', [tool('t', schema, 'Does it.')]);
    expect(described?.input_schema).toEqual({ properties: { c: {} }, required: ['c'], type: 'object' });
    expect(described?.description).toMatch(
      /^Does it\.\n\nNot available here, because of their names: "a b", "x{65}"\.$/,
    );
    expect(describeTools('openai', [tool('t', schema)])[0]?.function.parameters.required).toEqual([
      'a b',
      'c',
    ]);
  });
});
