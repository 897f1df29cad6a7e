import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import { createCallStream } from '../create-call-stream.js';
import { readCalls } from '../read-calls.js';
import { writeResults } from '../write-results.js';

const item = (call_id: string | undefined, args: unknown, rest: object = {}) => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name: 'bash',
  arguments: args,
  ...rest,
});

const output = [
  { type: 'reasoning', id: 'rs_1', summary: [] },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] },
  item('call_a', '{"command":"ls"}', { status: 'completed' }),
  { type: 'web_search_call', id: 'ws_1', status: 'completed' },
  item('call_b', '{}'),
];

const calls = [
  { id: 'call_a', name: 'bash', args: { command: 'ls' } },
  { id: 'call_b', name: 'bash', args: {} },
];

describe('openai-responses: reading', () => {
  it.each([
    ['a response', { id: 'resp_1', object: 'response', output }],
    ['its JSON text', JSON.stringify({ object: 'response', output })],
    ['a response without its kind', { output }],
    ['its items', output],
  ])('takes %s', (_, input) => {
    expect(readCalls(input)).toMatchObject({ format: 'openai-responses', calls, errors: [], shape: 'known' });
  });

  it('takes one lone item', () => {
    expect(readCalls(output[2])).toMatchObject({ format: 'openai-responses', calls: [calls[0]] });
  });

  it('knows a response with text alone: no calls', () => {
    const none = {
      format: 'openai-responses',
      calls: [],
      errors: [],
      shape: 'known',
      answer: expect.any(Function),
    };
    expect(readCalls({ object: 'response', output: output.slice(0, 2) })).toEqual(none);
    expect(readCalls(output.slice(0, 2))).toEqual(none);
    expect(readCalls({ object: 'response', output: [] })).toEqual(none);
  });

  it('names each malformed call in its place, and answers to call_id', () => {
    const read = readCalls([
      item('a', '{"x":'),
      item('b', '{}', { name: undefined }),
      item(undefined, '{}'),
      item('d', '{}', { status: 'incomplete' }),
      item('e', '[]'),
    ]);
    expect(read.calls).toEqual([{ id: 'call_2', name: 'bash', args: {}, madeUp: true }]);
    expect(read.errors).toMatchObject([
      {
        index: 0,
        id: 'a',
        name: 'bash',
        message: expect.stringContaining('not valid JSON: line 1, column 6'),
      },
      { index: 1, id: 'b', message: expect.stringContaining('"name" is missing') },
      { index: 3, id: 'd', message: expect.stringContaining('cut off') },
      { index: 4, id: 'e', message: expect.stringContaining('an array') },
    ]);
  });
});

describe('openai-responses: writing', () => {
  it('writes one item a result', () => {
    const base = { toolName: 'bash', truncated: false, executionTimeMs: 1, metadata: {} };
    const results: ToolResult[] = [
      { ...base, callId: 'a', success: true, output: '' },
      {
        ...base,
        callId: 'b',
        success: false,
        output: '',
        error: { code: 'timeout', message: '{"why":"slow"}' },
      },
    ];
    expect(writeResults('openai-responses', results)).toEqual([
      { type: 'function_call_output', call_id: 'a', output: '(no output)' },
      { type: 'function_call_output', call_id: 'b', output: '{"why":"slow"}' },
    ]);
  });
});

describe('openai-responses: streaming', () => {
  it('gives a call when its item is done, once, and reports what never was', () => {
    const stream = createCallStream('openai-responses');
    const added = (index: number, id: string) => ({
      type: 'response.output_item.added',
      output_index: index,
      item: item(id, ''),
    });
    const done = { type: 'response.output_item.done', output_index: 0, item: output[2] };
    expect(stream.push({ type: 'response.created', response: {} })).toEqual([]);
    expect(stream.push(added(0, 'call_a'))).toEqual([]);
    expect(
      stream.push({ type: 'response.function_call_arguments.delta', output_index: 0, delta: '{' }),
    ).toEqual([]);
    expect(stream.push(done)).toEqual([calls[0]]);
    expect(stream.push(done)).toEqual([]);
    expect(stream.push(added(1, 'call_z'))).toEqual([]);
    expect(stream.push(undefined)).toEqual([]);
    expect(stream.end()).toMatchObject({
      calls: [calls[0]],
      errors: [{ index: 1, id: 'call_z', name: 'bash' }],
    });
  });

  const added = (index: number, more: object = {}) => ({
    type: 'response.output_item.added',
    output_index: index,
    item: { ...item(`call_${'abc'[index]}`, ''), ...more },
  });
  const args = (index: number, text: string, type = 'delta') => ({
    type: `response.function_call_arguments.${type}`,
    output_index: index,
    [type === 'delta' ? 'delta' : 'arguments']: text,
  });
  const end = (status: 'completed' | 'incomplete', list: readonly object[] = []) => ({
    type: `response.${status}`,
    response: { id: 'resp_1', object: 'response', status, output: list },
  });

  it('takes from the end of the response what a server has not said before, once', () => {
    const stream = createCallStream('openai-responses');
    stream.push(added(0));
    const done = { type: 'response.output_item.done', output_index: 1, item: item('call_b', '{}') };
    expect(stream.push(done)).toMatchObject([{ id: 'call_b' }]);
    const list = [item('call_a', '{"command":"ls"}'), item('call_b', '{}'), item('call_c', '{}')];
    expect(stream.push(end('completed', list))).toMatchObject([
      { id: 'call_a', args: { command: 'ls' } },
      { id: 'call_c', args: {} },
    ]);
    expect(stream.push(end('completed', list))).toEqual([]);
    expect(stream.end()).toMatchObject({ id: 'resp_1', errors: [], calls: [{}, {}, {}] });
  });

  it('puts arguments together from their pieces, where no item is ever done', () => {
    const stream = createCallStream('openai-responses');
    const events = [added(0), added(1), args(0, '{"command"'), args(1, '{"command":"p'), args(0, ':"ls"}')];
    for (const event of [...events, args(1, '{"command":"pwd"}', 'done')]) {
      expect(stream.push(event)).toEqual([]);
    }
    expect(stream.push(end('completed'))).toMatchObject([
      { id: 'call_a', args: { command: 'ls' } },
      { id: 'call_b', args: { command: 'pwd' } },
    ]);
    expect(stream.end().errors).toEqual([]);
  });

  it('takes no call out of a response that was cut off inside it', () => {
    const stream = createCallStream('openai-responses');
    for (const event of [added(0), args(0, '{}'), added(1)]) stream.push(event);
    expect(stream.push(end('incomplete'))).toEqual([]);
    expect(stream.end().errors).toMatchObject([
      { id: 'call_a', message: expect.stringContaining('was cut off inside it') },
      { id: 'call_b', message: expect.stringContaining('was cut off inside it') },
    ]);
  });
});
