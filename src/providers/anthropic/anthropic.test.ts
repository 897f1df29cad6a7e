import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import { createCallStream } from '../create-call-stream.js';
import { readCalls } from '../read-calls.js';
import { writeResults } from '../write-results.js';

const message = {
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'text', text: 'I will look.' },
    { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { command: 'ls', env: { A: [1, null] } } },
    { type: 'tool_use', id: 'toolu_2', name: 'read_file', input: {} },
  ],
  stop_reason: 'tool_use',
  usage: { input_tokens: 1, output_tokens: 2 },
};

const calls = [
  { id: 'toolu_1', name: 'bash', args: { command: 'ls', env: { A: [1, null] } } },
  { id: 'toolu_2', name: 'read_file', args: {} },
];

function result(callId: string, rest: { output: string; error?: string }): ToolResult {
  const base = {
    callId,
    toolName: 'bash',
    output: rest.output,
    truncated: false,
    executionTimeMs: 1,
    metadata: {},
  };
  return rest.error === undefined
    ? { ...base, success: true }
    : { ...base, success: false, error: { code: 'execution_failed', message: rest.error } };
}

describe('anthropic: reading', () => {
  it.each([
    ['a message', message],
    ['its JSON text', JSON.stringify(message)],
    ['its content blocks', message.content],
    ['a message without type and usage', { role: 'assistant', content: message.content }],
  ])('takes %s', (_, input) => {
    expect(readCalls(input)).toMatchObject({ format: 'anthropic', calls, errors: [], shape: 'known' });
  });

  it('takes one lone block', () => {
    expect(readCalls(message.content[2])).toMatchObject({ format: 'anthropic', calls: [calls[0]] });
  });

  it('takes a block beside kinds that are newer than this program', () => {
    const blocks = [{ type: 'hologram' }, message.content[3]];
    expect(readCalls(blocks)).toMatchObject({ format: 'anthropic', calls: [calls[1]] });
  });

  it('knows a message with text alone, or nothing: no calls', () => {
    const none = { format: 'anthropic', calls: [], errors: [], shape: 'known', answer: expect.any(Function) };
    expect(readCalls({ ...message, content: message.content.slice(0, 2) })).toMatchObject(none);
    expect(readCalls([{ type: 'text', text: 'hi' }])).toEqual(none);
    expect(readCalls({ ...message, content: [] })).toMatchObject(none);
  });

  it('does not take tools that the provider runs itself', () => {
    const input = {
      ...message,
      content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }],
    };
    expect(readCalls(input)).toMatchObject({ calls: [], errors: [], shape: 'known' });
  });

  it('does not take a call out of a user message', () => {
    expect(readCalls({ ...message, role: 'user' })).toMatchObject({ calls: [], shape: 'unknown' });
  });

  it('names each malformed block in its place', () => {
    const content = [
      { type: 'tool_use', id: 'a', name: 'bash', input: [1] },
      { type: 'tool_use', id: 'b', name: 'bash', input: {} },
      { type: 'tool_use', id: 'c', name: 'bash' },
      { type: 'tool_use', id: 'd', input: {} },
      { type: 'tool_use', name: 'bash', input: '{}' },
      { type: 'tool_use', name: 'bash', input: {} },
    ];
    expect(readCalls({ role: 'assistant', content })).toEqual({
      format: 'anthropic',
      calls: [
        { id: 'b', name: 'bash', args: {} },
        { id: 'call_5', name: 'bash', args: {}, madeUp: true },
      ],
      errors: [
        {
          index: 0,
          id: 'a',
          name: 'bash',
          message:
            'Cannot read the call of "bash": "input" is an array, a JSON object with the arguments was expected. Send {} when there are none.',
        },
        { index: 2, id: 'c', name: 'bash', message: expect.stringContaining('"input" is missing') },
        { index: 3, id: 'd', message: expect.stringContaining('Cannot read call 4: "name" is missing') },
        {
          index: 4,
          id: 'call_4',
          name: 'bash',
          message: expect.stringContaining('"input" is the string "{}"'),
        },
      ],
      shape: 'known',
      answer: expect.any(Function),
    });
  });

  it('does not run the call inside which the response was cut off', () => {
    const read = readCalls({ ...message, stop_reason: 'max_tokens' });
    expect(read.calls).toEqual([calls[0]]);
    expect(read.errors).toMatchObject([
      { index: 1, id: 'toolu_2', message: expect.stringContaining('cut off') },
    ]);
  });
});

describe('anthropic: writing', () => {
  it('groups all results in one user message', () => {
    const results = [
      result('toolu_1', { output: 'a.txt' }),
      result('toolu_2', { output: '' }),
      result('toolu_3', { output: '', error: 'No such file.' }),
      result('toolu_4', { output: '1 failing', error: 'exit code 1' }),
      result('toolu_5', { output: 'kept apart', error: '{"error":{"kind":"quota"}}' }),
    ];
    expect(writeResults('anthropic', results)).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: '(no output)' },
        { type: 'tool_result', tool_use_id: 'toolu_3', content: 'Error: No such file.', is_error: true },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_4',
          content: 'Error: exit code 1\n\n1 failing',
          is_error: true,
        },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_5',
          content: '{"error":{"kind":"quota"}}',
          is_error: true,
        },
      ],
    });
    expect(writeResults('anthropic', [])).toEqual({ role: 'user', content: [] });
  });
});

describe('anthropic: streaming', () => {
  const start = (index: number, block: unknown) => ({
    type: 'content_block_start',
    index,
    content_block: block,
  });
  const json = (index: number, piece: unknown) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json: piece },
  });
  const stop = (index: number) => ({ type: 'content_block_stop', index });
  const use = (id: string) => ({ type: 'tool_use', id, name: 'bash', input: {} });

  it('gives a call when its block stops, and nothing before', () => {
    const stream = createCallStream('anthropic');
    const events = [
      { type: 'message_start', message: { ...message, content: [] } },
      start(0, { type: 'text', text: '' }),
      { type: 'ping' },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '{"not":"a call"}' } },
      stop(0),
      start(1, use('toolu_1')),
      json(1, ''),
      json(1, '{"comm'),
      json(1, 'and":"ls"}'),
      stop(1),
      start(2, use('toolu_2')),
      stop(2),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ];
    const given = events.map((event) => stream.push(event));
    expect(given.flat()).toEqual([
      { id: 'toolu_1', name: 'bash', args: { command: 'ls' } },
      { id: 'toolu_2', name: 'bash', args: {} },
    ]);
    expect(given.findIndex((found) => found.length > 0)).toBe(9);
    expect(stream.end()).toMatchObject({ calls: given.flat(), errors: [] });
  });

  it('keeps blocks apart that interleave, and gives each once', () => {
    const stream = createCallStream('anthropic');
    const events = [
      start(0, use('a')),
      start(1, use('b')),
      json(1, '{"n":1}'),
      json(0, '{"n":0}'),
      stop(1),
      stop(1),
      stop(0),
    ];
    expect(events.flatMap((event) => stream.push(event))).toMatchObject([
      { id: 'b', args: { n: 1 } },
      { id: 'a', args: { n: 0 } },
    ]);
    expect(stream.end()).toMatchObject({ calls: [{ id: 'b' }, { id: 'a' }], errors: [] });
  });

  it('reports broken arguments, a piece that is not a string, and a block that never stopped', () => {
    const stream = createCallStream('anthropic');
    const events = [
      start(0, use('a')),
      json(0, '{"n":1,"n":2}'),
      stop(0),
      start(1, use('b')),
      json(1, '[]'),
      stop(1),
      start(2, use('c')),
      json(2, 7),
      stop(2),
      start(3, use('d')),
      start(3, use('e')),
      json(3, '{"half":'),
      null,
      5,
      'x',
      [],
      {},
    ];
    expect(events.flatMap((event) => stream.push(event))).toEqual([]);
    expect(stream.end().errors).toMatchObject([
      { index: 0, id: 'a', name: 'bash', message: expect.stringContaining('"n" is given twice') },
      { index: 1, id: 'b', message: expect.stringContaining('an array') },
      { index: 2, id: 'c', message: expect.stringContaining('the number 7') },
      { index: 3, id: 'd', message: expect.stringContaining('the stream ended inside it') },
      { index: 4, id: 'e', message: expect.stringContaining('the stream ended inside it') },
    ]);
  });
});
