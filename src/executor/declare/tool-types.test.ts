import { expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolReturn, ToolSpec, TypedTool } from '../../contract/tool.js';
import { defineTool } from './define-tool.js';

/** The compiler finds the errors here: each `@ts-expect-error` fails the type check if there is no error. */
const BASE = { description: 'd', input: { type: 'object' }, effects: () => [] } as const;
const weather = z.object({ celsius: z.number() });

interface Forecast {
  readonly celsius: number;
}
const forecast: Forecast = { celsius: 21 };

it('lets execute return what its output schema accepts, and nothing else', () => {
  const tools = [
    defineTool({ ...BASE, name: 'value', output: weather, execute: () => ({ celsius: 21 }) }),
    defineTool({ ...BASE, name: 'promise', output: weather, execute: async () => forecast }),
    defineTool({
      ...BASE,
      name: 'both',
      output: weather,
      execute: () => ({ text: '21 °C', structured: forecast }),
    }),
    defineTool({
      ...BASE,
      name: 'failure',
      output: weather,
      execute: () => ({ error: { message: 'no city' } }),
    }),
    defineTool({ ...BASE, name: 'list', output: z.array(z.string()), execute: () => ['a'] }),
    defineTool({ ...BASE, name: 'text', output: z.string(), execute: () => 'a text' }),
    defineTool({
      ...BASE,
      name: 'json',
      output: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } },
      execute: () => ({ n: 1 }),
    }),
    // @ts-expect-error a text where a number is expected
    defineTool({ ...BASE, name: 'w1', output: weather, execute: () => ({ celsius: 'warm' }) }),
    // @ts-expect-error a member is missing
    defineTool({ ...BASE, name: 'w2', output: weather, execute: async () => ({}) }),
    // @ts-expect-error only text
    defineTool({ ...BASE, name: 'w3', output: weather, execute: () => '21 °C' }),
    // @ts-expect-error an output without a structured value
    defineTool({ ...BASE, name: 'w4', output: weather, execute: () => ({ text: '21 °C' }) }),
    defineTool({
      ...BASE,
      name: 'w5',
      output: weather,
      // @ts-expect-error a wrong structured value
      execute: () => ({ text: '', structured: { celsius: '' } }),
    }),
    defineTool({
      ...BASE,
      name: 'w6',
      output: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } },
      // @ts-expect-error a text where a number is expected
      execute: () => ({ n: 'one' }),
    }),
    defineTool({
      ...BASE,
      name: 'w7',
      output: z.object({ text: z.string() }),
      // @ts-expect-error such a value has a member of an output, so it must be returned as `structured`
      execute: (): { text: string } => ({ text: 'x' }),
    }),
  ];
  expect(tools).toHaveLength(14);
});

it('lets execute return any value or output if there is no output schema, but not undefined', () => {
  const tools = [
    defineTool({ ...BASE, name: 'text', execute: () => 'x' }),
    defineTool({ ...BASE, name: 'value', execute: async () => [forecast, null, 1] }),
    defineTool({ ...BASE, name: 'null', execute: () => null }),
    defineTool({
      ...BASE,
      name: 'content',
      execute: () => ({ content: [{ type: 'image', mediaType: 'image/png', data: Uint8Array.of(1) }] }),
    }),
    // @ts-expect-error nothing is returned
    defineTool({ ...BASE, name: 'w1', execute: () => {} }),
  ];
  expect(tools).toHaveLength(5);
});

it('holds for ToolSpec and ToolReturn as well', () => {
  const spec: ToolSpec<{ readonly city: string }, Forecast> = {
    name: 'spec',
    description: 'd',
    input: BASE.input,
    output: z.object({ celsius: z.number() }),
    execute: ({ city }) => ({ celsius: city.length }),
  };
  const returned: ToolReturn<Forecast> = { structured: forecast };
  // @ts-expect-error a text is not a forecast
  const wrong: ToolReturn<Forecast> = 'x';
  expect([spec.name, returned, wrong]).toHaveLength(3);
});

it('takes a declared ToolSpec, and keeps its types', () => {
  const spec: ToolSpec<{ readonly city: string }, Forecast> = {
    name: 'declared',
    description: 'd',
    input: BASE.input,
    output: weather,
    effects: ({ city }) => [{ kind: 'read', path: city }],
    requiresApproval: ({ city }) => city === '',
    execute: ({ city }) => ({ celsius: city.length }),
  };
  const tool: TypedTool<{ readonly city: string }> = defineTool(spec);
  // @ts-expect-error its arguments have a city
  const other: TypedTool<{ readonly town: string }> = defineTool(spec);
  expect([tool.name, other.name]).toEqual(['declared', 'declared']);
});
