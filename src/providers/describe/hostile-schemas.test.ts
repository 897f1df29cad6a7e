import { describe, expect, it } from 'vitest';
import { isToolError } from '../../errors/tool-error.js';
import { eachOf } from '../../testing/fixtures/each-of.js';
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

function problemOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isToolError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('hostile schemas', () => {
  const doubling = (keyword: string) => {
    const $defs: { [name: string]: object } = { d0: { type: 'string' } };
    for (let level = 1; level <= 40; level++) {
      const below = { $ref: `#/$defs/d${level - 1}` };
      $defs[`d${level}`] =
        keyword === 'properties' ? { properties: { a: below, b: below } } : { [keyword]: [below, below] };
    }
    return { $defs, properties: { x: { $ref: '#/$defs/d40' } }, [keyword]: $defs.d40?.[keyword as never] };
  };
  const deep = (levels: number) => {
    let schema: object = { type: 'string' };
    for (let level = 0; level < levels; level++) schema = { properties: { x: schema } };
    return schema;
  };
  const many = (count: number, make: (index: number) => [string, unknown]) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => make(index)));

  eachOf<[string, object]>(
    [
      ['combinations that double forty times', doubling('allOf')],
      ['a reference to itself', { $ref: '#' }],
      ['alternatives of itself', { anyOf: Array.from({ length: 20 }, () => ({ $ref: '#' })) }],
      [
        'a circle of references',
        { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      ],
      ['a depth of 120', deep(120)],
      [
        'prototype keys',
        JSON.parse(
          '{"__proto__":{"type":"x"},"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["__proto__","constructor"]}',
        ),
      ],
      [
        'references into prototypes',
        { $ref: '#/constructor/prototype', properties: { x: { $ref: '#/__proto__/toString' } } },
      ],
      ['a reference that is no address', { properties: { x: { $ref: '#/%E0%A4%A' }, y: { $ref: 5 } } }],
      [
        'long texts',
        { description: 'x'.repeat(1_000_000), properties: { x: { pattern: '('.repeat(100_000) } } },
      ],
      ['10,000 properties', { properties: many(10_000, (index) => [`p${index}`, { type: 'string' }]) }],
      ['10,000 refused names', { properties: many(10_000, (index) => [`p ${index}`, {}]), required: [] }],
      [
        '10,000 alternatives',
        { anyOf: Array.from({ length: 10_000 }, (_, n) => ({ properties: { a: { const: n } } })) },
      ],
      ['references that double forty times', doubling('properties')],
      ['alternatives that double forty times', doubling('anyOf')],
    ],
    9,
  )('%s are described in bounded time, in every format', (_, schema) => {
    const before = process.cpuUsage().user;
    for (const format of FORMATS) {
      const text = JSON.stringify(describeTools(format, [tool('t', schema)]));
      expect(text.length).toBeLessThan(20_000_000);
    }
    expect((process.cpuUsage().user - before) / 1000).toBeLessThan(10_000);
    expect(({} as { type?: unknown }).type).toBeUndefined();
  });

  it('too many values and too many levels are refused by name', () => {
    const wide = { enum: Array.from({ length: 200_001 }, (_, index) => index) };
    expect(problemOf(() => describeTools('native', [tool('t', wide)]))).toContain('more than 200000 values');
    expect(problemOf(() => describeTools('native', [tool('t', deep(200))]))).toContain('deeper than 256');
  });
});
