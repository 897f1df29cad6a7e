import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { readCalls, type WireFormat } from '../../src/protocols.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';

const anthropic = [
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: 'a', name: 'bash', input: {}, caller: { type: 'direct' } },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"command":' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '"ls"}' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_stop' },
] satisfies Anthropic.RawMessageStreamEvent[];

type Delta = OpenAI.Chat.ChatCompletionChunk.Choice['delta'];
const chunk = (delta: Delta, finish_reason: 'tool_calls' | null = null) =>
  ({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-5',
    choices: [{ index: 0, delta, finish_reason }],
  }) satisfies OpenAI.Chat.ChatCompletionChunk;
const openai = [
  chunk({ role: 'assistant', content: 'data: no event' }),
  chunk({
    tool_calls: [
      { index: 0, id: 'a', type: 'function', function: { name: 'bash', arguments: '{"command":' } },
    ],
  }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '"ls"}' } }] }),
  chunk({}, 'tool_calls'),
];

const item = { type: 'function_call', id: 'fc', call_id: 'a', name: 'bash' } as const;
const responses = [
  {
    type: 'response.output_item.added',
    output_index: 0,
    sequence_number: 0,
    item: { ...item, arguments: '', status: 'in_progress' },
  },
  {
    type: 'response.function_call_arguments.delta',
    output_index: 0,
    sequence_number: 1,
    item_id: 'fc',
    delta: '{"command":"ls"}',
  },
  {
    type: 'response.output_item.done',
    output_index: 0,
    sequence_number: 2,
    item: { ...item, arguments: '{"command":"ls"}', status: 'completed' },
  },
] satisfies OpenAI.Responses.ResponseStreamEvent[];

const gemini = [
  { candidates: [{ content: { role: 'model', parts: [{ text: 'hm' }] } }] },
  {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [{ functionCall: { id: 'a', name: 'bash', args: { command: 'ls' } } }],
        },
      },
    ],
  },
];

const STREAMS: readonly (readonly [WireFormat, readonly { readonly type?: string }[]])[] = [
  ['anthropic', anthropic],
  ['openai', openai as { type?: string }[]],
  ['openai-responses', responses],
  ['gemini', gemini as { type?: string }[]],
];
const calls = [{ id: 'a', name: 'bash', args: { command: 'ls' } }];

const data = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
const named = (event: { readonly type?: string }) => `event: ${event.type ?? 'message'}\n${data(event)}`;

describe('readCalls() of a stream that was written down', () => {
  const ways: readonly (readonly [string, (events: readonly { readonly type?: string }[]) => string])[] = [
    ['data lines', (events) => events.map(data).join('')],
    ['data lines with [DONE]', (events) => `${events.map(data).join('')}data: [DONE]\n\n`],
    ['named events', (events) => events.map(named).join('')],
    ['CRLF', (events) => events.map(named).join('').replaceAll('\n', '\r\n')],
    ['no blanks after the colon', (events) => events.map(data).join('').replaceAll('data: {', 'data:{')],
    [
      'comments, ids and a blank start',
      (events) => `\n: hello\nid: 1\nretry: 5\n${events.map(data).join(': ping\n\n')}`,
    ],
    ['no last line end', (events) => events.map(data).join('').trimEnd()],
    ['named events without empty lines', (events) => events.map(named).join('').replaceAll('\n\n', '\n')],
    ['JSON lines', (events) => events.map((event) => JSON.stringify(event)).join('\n')],
  ];
  const cases = STREAMS.flatMap(([format, events]) =>
    ways.map(([way, write]) => [format, way, write(events)] as const),
  );

  it.each(cases)('%s as %s', (format, _, text) => {
    expect(readCalls(text)).toEqual({
      format,
      ...(format === 'openai' ? { id: 'c' } : {}),
      calls,
      errors: [],
      shape: 'known',
      answer: expect.any(Function),
    });
  });

  it('takes an event that is spread over several data lines', () => {
    const text = `data: {"candidates":\ndata: [{"content":{"parts":[{"functionCall":\ndata: {"id":"a","name":"bash","args":{"command":"ls"}}}]}}]}\n\n`;
    expect(readCalls(text)).toMatchObject({ format: 'gemini', calls });
  });

  it('takes calls of our own, one a line', () => {
    const lines = '{"id":"a","name":"x","args":{}}\n\n{"name":"y","args":{"n":1}}\n';
    expect(readCalls(lines)).toEqual({
      format: 'native',
      calls: [
        { id: 'a', name: 'x', args: {} },
        { id: 'call_1', name: 'y', args: { n: 1 }, madeUp: true },
      ],
      errors: [],
      shape: 'known',
      answer: expect.any(Function),
    });
    expect(readCalls('{"name":"x","args":{}}\n{"name":"y","args":')).toMatchObject({
      calls: [{ name: 'x' }],
      errors: [{ index: 1, unfinished: true }],
    });
    expect(readCalls('{"name":"x","args":{}}\n{"event":1}\n')).toMatchObject({ shape: 'unknown', calls: [] });
  });

  it.each(STREAMS)(
    '%s, cut off anywhere: gives the whole call or none, and never another',
    (format, events) => {
      const text = events.map(named).join('');
      for (let end = 1; end < text.length; end++) {
        const read = readCalls(text.slice(0, end));
        expect(read.calls.length === 0 || JSON.stringify(read.calls) === JSON.stringify(calls)).toBe(true);
        expect(read.errors.length).toBeLessThanOrEqual(1);
        if (read.shape === 'known' && read.format === format && read.errors.length > 0) {
          expect(read.errors[0]).toMatchObject({ index: read.calls.length, unfinished: true });
        }
      }
    },
  );

  it('says that a stream ended inside a call', () => {
    expect(readCalls(anthropic.slice(0, 2).map(named).join(''))).toMatchObject({
      format: 'anthropic',
      calls: [],
      errors: [{ index: 0, id: 'a', name: 'bash', unfinished: true }],
    });
  });

  it('reads nothing after an event that is broken', () => {
    const text = `${anthropic.slice(0, 4).map(named).join('')}data: {broken\n\n${named({ type: 'message_stop' })}`;
    expect(readCalls(text)).toMatchObject({
      calls,
      errors: [{ index: 1, message: expect.stringContaining('not valid JSON') }],
    });
    expect(readCalls(text).errors[0]).not.toHaveProperty('unfinished');
  });

  it.each([
    ['prose about data', 'data: we have some\n\nand more text'],
    ['prose in lines of data', 'data: we have some\ndata: and more'],
    ['a note', 'id: 5\n'],
    ['other JSON', 'data: {"foo":1}\n\n'],
    ['a fenced call below a heading', 'event: start\n```tool\n{"name":"x","args":{}}\n```'],
  ])('takes %s for prose', (_, text) => {
    expect(readCalls(text)).toMatchObject({ format: 'fenced', shape: 'known', errors: [] });
  });

  eachOf(
    [
      ['fields', 'data:\n'.repeat(170_000)],
      ['events', 'data: {}\n\n'.repeat(100_000)],
      ['objects', '{}\n'.repeat(330_000)],
      ['one event in pieces', `data: {"candidates":[\n${'data: 1,\n'.repeat(100_000)}`],
      ['comments', ':\n'.repeat(500_000)],
      [
        'deltas',
        `${data(anthropic[0] ?? {})}${data({ ...anthropic[1], delta: { type: 'input_json_delta', partial_json: '[' } }).repeat(8_000)}`,
      ],
    ],
    1,
  )('reads a megabyte of %s within seconds', (_, text) => {
    const before = process.cpuUsage().user;
    expect(readCalls(text).calls).toEqual([]);
    expect((process.cpuUsage().user - before) / 1000).toBeLessThan(10_000);
  });
});
