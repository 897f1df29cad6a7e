import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import { createCallStream } from '../create-call-stream.js';
import { readCalls } from '../read-calls.js';
import { writeResults } from '../write-results.js';

const toolCall = (id: string, args: unknown) => ({
  id,
  type: 'function',
  function: { name: 'bash', arguments: args },
});

const message = {
  role: 'assistant',
  content: null,
  tool_calls: [toolCall('call_a', '{"command":"ls"}'), toolCall('call_b', ' {} ')],
};

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [
    { index: 0, message, finish_reason: 'tool_calls' },
    { index: 1, message: { ...message, tool_calls: [toolCall('other', '{}')] } },
  ],
};

const calls = [
  { id: 'call_a', name: 'bash', args: { command: 'ls' } },
  { id: 'call_b', name: 'bash', args: {} },
];

describe('openai: reading', () => {
  it.each([
    ['a completion, of several choices the first', completion],
    ['its JSON text', JSON.stringify(completion)],
    ['a message', message],
    ['a message with content parts', { ...message, content: [{ type: 'text', text: 'hi' }] }],
    [
      'arguments that are an object already',
      { ...message, tool_calls: [toolCall('call_a', { command: 'ls' }), toolCall('call_b', {})] },
    ],
  ])('takes %s', (_, input) => {
    expect(readCalls(input)).toMatchObject({ format: 'openai', calls, errors: [], shape: 'known' });
  });

  it.each([
    ['a message with text alone', { role: 'assistant', content: 'hi' }],
    ['a completion with text alone', { choices: [{ message: { role: 'assistant', content: 'hi' } }] }],
    ['a completion without choices', { choices: [] }],
    ['no tool calls', { ...message, tool_calls: [] }],
  ])('knows %s: no calls', (_, input) => {
    expect(readCalls(input)).toEqual({
      format: 'openai',
      calls: [],
      errors: [],
      shape: 'known',
      answer: expect.any(Function),
    });
  });

  it('names each malformed call in its place', () => {
    const wrong = ['{"a":1,"a":2}', '{"command":', '[]', '"{}"', '', 'null', '{"n":1e400}', 5];
    const input = {
      ...message,
      tool_calls: [
        ...wrong.map((args, index) => toolCall(`c${index}`, args)),
        { id: 'x', type: 'custom' },
        null,
      ],
    };
    const read = readCalls(input);
    expect(read.calls).toEqual([]);
    expect(read.errors.map(({ index, id }) => [index, id])).toEqual([
      ...wrong.map((_, index) => [index, `c${index}`]),
      [8, 'x'],
      [9, 'call_9'],
    ]);
    expect(read.errors.map((error) => error.message)).toEqual([
      'Cannot read the call of "bash": "arguments" is not valid JSON: line 1, column 8: the key "a" is given twice in one object. Give each key once.',
      'Cannot read the call of "bash": "arguments" is not valid JSON: line 1, column 12: the text ends where a value was expected.',
      expect.stringContaining('"arguments" is an array, a JSON object'),
      expect.stringContaining('"arguments" is the string "{}", a JSON object'),
      expect.stringContaining(
        '"arguments" is missing, a JSON object with the arguments was expected. Send {} when',
      ),
      expect.stringContaining('"arguments" is null'),
      expect.stringContaining('1e400 is too large'),
      expect.stringContaining('"arguments" is the number 5'),
      'Cannot read call 9: "function" is missing, an object with "name" and "arguments" was expected.',
      'Cannot read call 10: it is null, a tool call object was expected.',
    ]);
  });
});

describe('openai: an empty text in place of arguments', () => {
  const tool = (name: string, inputSchema: object) => ({
    name,
    inputSchema: inputSchema as { type: string },
  });
  const tools = [
    tool('now', { type: 'object', properties: {} }),
    tool('list', { type: 'object', properties: { path: { type: 'string' } }, required: [] }),
    tool('bash', { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }),
  ];
  const asked = (name: string) => ({ id: name, type: 'function', function: { name, arguments: '' } });
  const calls = [...tools.map(({ name }) => asked(name)), asked('unknown')];
  const chunk = (finish_reason: string) => ({
    choices: [{ delta: { tool_calls: calls.map((call, index) => ({ index, ...call })) }, finish_reason }],
  });
  const whole = (finish_reason: string) => ({
    choices: [{ message: { role: 'assistant', tool_calls: calls }, finish_reason }],
  });
  const stream = (finish: string) => {
    const reader = createCallStream('openai', { tools });
    reader.push(chunk(finish));
    return reader.end();
  };

  it('is absent for a tool that requires none', () => {
    for (const read of [stream('tool_calls'), readCalls(whole('tool_calls'), { tools })]) {
      expect(read.calls).toEqual([
        { id: 'now', name: 'now', args: {} },
        { id: 'list', name: 'list', args: {} },
      ]);
      expect(read.errors).toMatchObject([{ name: 'bash' }, { name: 'unknown' }]);
    }
  });

  it('is a call that was cut off, where the response was', () => {
    for (const read of [stream('length'), readCalls(whole('length'), { tools })]) {
      expect(read.calls).toEqual([]);
      expect(read.errors[1]?.message).toContain('was cut off (finish_reason "length")');
    }
  });
});

describe('openai: writing', () => {
  it('writes one message a result', () => {
    const base = { toolName: 'bash', truncated: false, executionTimeMs: 1, metadata: {} };
    const results: ToolResult[] = [
      { ...base, callId: 'a', success: true, output: 'out' },
      {
        ...base,
        callId: 'b',
        success: false,
        output: 'kept',
        error: { code: 'timeout', message: 'too slow' },
      },
    ];
    expect(writeResults('openai', results)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'out' },
      { role: 'tool', tool_call_id: 'b', content: 'Error: too slow\n\nkept' },
    ]);
    expect(writeResults('openai', [])).toEqual([]);
  });
});

describe('openai: streaming', () => {
  const chunk = (fragments: unknown, finish_reason: string | null = null) => ({
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { tool_calls: fragments }, finish_reason }],
  });
  const piece = (index: number, args: string) => ({ index, function: { arguments: args } });
  const first = (index: number, id: string, args = '') => ({
    index,
    id,
    type: 'function',
    function: { name: 'bash', arguments: args },
  });

  it('gives all calls with the finish_reason, each once', () => {
    const stream = createCallStream('openai');
    const events = [
      { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
      chunk([first(0, 'call_a')]),
      chunk([piece(0, '{"comm')]),
      chunk([piece(0, 'and":"ls"}'), first(1, 'call_b', '{')]),
      chunk([piece(1, '}')]),
      chunk(undefined, 'tool_calls'),
      { choices: [], usage: { total_tokens: 3 } },
      chunk(undefined, 'tool_calls'),
    ];
    const given = events.map((event) => stream.push(event));
    expect(given.findIndex((found) => found.length > 0)).toBe(5);
    expect(given.flat()).toEqual(calls);
    expect(stream.end()).toMatchObject({ calls, errors: [] });
  });

  it('keeps calls apart that a server numbers alike', () => {
    const stream = createCallStream('openai');
    const found = stream.push(
      chunk([first(0, 'call_a', '{"command":"ls"}'), first(0, 'call_b', '{}')], 'stop'),
    );
    expect(found).toEqual(calls);
  });

  it('reports what was cut off', () => {
    const stream = createCallStream('openai');
    stream.push(chunk([first(0, 'call_a', '{"command":')]));
    stream.push(null);
    expect(stream.end().errors).toMatchObject([{ index: 0, id: 'call_a', name: 'bash' }]);
    const cut = createCallStream('openai');
    expect(cut.push(chunk([first(0, 'call_a', '{"command":')], 'length'))).toEqual([]);
    expect(cut.end().errors).toMatchObject([{ message: expect.stringContaining('not valid JSON') }]);
  });
});
