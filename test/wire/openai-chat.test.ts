import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { answerReadErrors, createCallStream, readCalls, writeResults } from '../../src/protocols.js';
import { failure, success } from './results.js';

const message = {
  role: 'assistant',
  content: 'I will look.',
  refusal: null,
  tool_calls: [
    { id: 'call_a', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } },
    { id: 'call_b', type: 'function', function: { name: 'bash', arguments: '{"command":' } },
    { id: 'call_c', type: 'custom', custom: { name: 'apply_patch', input: '*** Begin Patch\n' } },
    { id: 'call_d', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
  ],
} satisfies OpenAI.Chat.ChatCompletionMessage;

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-5',
  choices: [{ index: 0, finish_reason: 'tool_calls', logprobs: null, message }],
} satisfies OpenAI.Chat.ChatCompletion;

const calls = [
  { id: 'call_a', name: 'bash', args: { command: 'ls' } },
  { id: 'call_c', name: 'apply_patch', args: { patch: '*** Begin Patch\n' } },
  { id: 'call_d', name: 'read_file', args: { path: 'a' } },
];

describe('OpenAI chat: a response', () => {
  it.each([
    ['a completion', completion],
    ['its message', message],
    ['its JSON', JSON.stringify(completion)],
  ])('%s: every call, functions and custom tools, in order', (_, input) => {
    const read = readCalls(input);
    expect(read).toMatchObject({ format: 'openai', calls, shape: 'known' });
    expect(read.errors).toMatchObject([{ index: 1, id: 'call_b', name: 'bash' }]);
  });

  it('is answered with a message for each call, the malformed one in its place', () => {
    const read = readCalls(completion);
    const results = answerReadErrors(
      [
        success('call_a', { output: 'a.txt' }),
        failure('call_c', ['patch_failed', 'no such file'], { output: 'hunk 1' }),
        success('call_d'),
      ],
      read.errors,
    );
    expect(writeResults('openai', results, read)).toEqual([
      { role: 'tool', tool_call_id: 'call_a', content: 'a.txt' },
      { role: 'tool', tool_call_id: 'call_b', content: expect.stringMatching(/^Error: Cannot read/) },
      { role: 'tool', tool_call_id: 'call_c', content: 'Error: no such file\n\nhunk 1' },
      { role: 'tool', tool_call_id: 'call_d', content: '(no output)' },
    ] satisfies OpenAI.Chat.ChatCompletionToolMessageParam[]);
  });

  it('reads the call of older models, and answers it by name', () => {
    const legacy = {
      role: 'assistant',
      content: null,
      refusal: null,
      function_call: { name: 'bash', arguments: '{"command":"ls"}' },
    } satisfies OpenAI.Chat.ChatCompletionMessage;
    const read = readCalls(legacy);
    expect(read).toMatchObject({ calls: [{ id: 'call_0', name: 'bash', args: { command: 'ls' } }] });
    expect(writeResults('openai', [success('call_0', { output: 'a' })], read)).toEqual([
      { role: 'function', name: 'bash', content: 'a' },
    ] satisfies OpenAI.Chat.ChatCompletionFunctionMessageParam[]);
    expect(readCalls({ ...legacy, function_call: null }).calls).toEqual([]);
    expect(readCalls({ ...legacy, function_call: { name: 'bash', arguments: '{' } })).toMatchObject({
      calls: [],
      errors: [{ index: 0, id: 'call_0' }],
    });
  });
});

describe('OpenAI chat: custom tools', () => {
  const call = (name: string, input: unknown) =>
    readCallsOf([{ id: 'x', type: 'custom', custom: { name, input } }]);
  const readCallsOf = (tool_calls: unknown, tools?: object[]) =>
    readCalls(
      { role: 'assistant', content: null, tool_calls },
      tools === undefined ? {} : { tools: tools as { name: string }[] },
    );

  it('puts free text where the tool takes it', () => {
    expect(call('bash', 'ls').calls).toEqual([{ id: 'x', name: 'bash', args: { command: 'ls' } }]);
    const item = [{ id: 'x', type: 'custom', custom: { name: 'say', input: '{"not":"parsed"}' } }];
    const say = (inputSchema: object) => readCallsOf(item, [{ name: 'say', inputSchema }]);
    const text = { type: 'string' };
    const taken = [{ id: 'x', name: 'say', args: { text: '{"not":"parsed"}' } }];
    expect(say({ type: 'object', properties: { text } }).calls).toEqual(taken);
    expect(say({ properties: { text, loud: {} }, required: ['text'] }).calls).toEqual(taken);
    for (const schema of [
      { properties: { text, loud: {} } },
      { properties: { text, to: text }, required: ['text', 'to'] },
      { properties: { count: { type: 'integer' } }, required: ['count'] },
      { required: ['__proto__'] },
      {},
    ]) {
      expect(say(schema)).toMatchObject({ calls: [], errors: [{ id: 'x', name: 'say' }] });
    }
  });

  it('answers in its place what no tool can take', () => {
    expect(call('other', 'text').errors[0]?.message).toContain('takes a JSON object with named arguments');
    expect(call('bash', 5).errors[0]?.message).toContain('"input" is the number 5');
    expect(call('bash', 'x\ud800').errors[0]?.message).toContain('surrogate');
  });
});

type Delta = OpenAI.Chat.ChatCompletionChunk.Choice['delta'];
const chunk = (delta: Delta, finish_reason: 'tool_calls' | 'function_call' | null = null, index = 0) =>
  ({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-5',
    choices: [{ index, delta, finish_reason }],
  }) satisfies OpenAI.Chat.ChatCompletionChunk;

describe('OpenAI chat: a stream', () => {
  it('gives all calls with the finish_reason, of several choices those of the first', () => {
    const stream = createCallStream('openai');
    const events = [
      chunk({ role: 'assistant', content: '' }),
      chunk({
        tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'bash', arguments: '' } }],
      }),
      chunk({ tool_calls: [{ index: 0, id: 'zz', function: { name: 'rm', arguments: '{}' } }] }, null, 1),
      chunk({}, 'tool_calls', 1),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"command"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ':"ls"}' } }] }),
    ];
    expect(events.flatMap((event) => stream.push(event))).toEqual([]);
    expect(stream.push(chunk({}, 'tool_calls'))).toEqual([
      { id: 'a', name: 'bash', args: { command: 'ls' } },
    ]);
    expect(stream.end()).toMatchObject({ id: 'c', calls: [{ id: 'a' }], errors: [] });
  });

  it('puts custom tools and the call of older models together', () => {
    const stream = createCallStream('openai');
    stream.push({ choices: [{ delta: { tool_calls: [custom('x', 'bash', 'l')] } }] });
    stream.push({ choices: [{ delta: { tool_calls: [custom(undefined, undefined, 's')] } }] });
    stream.push(chunk({ function_call: { name: 'bash', arguments: '{"comm' } }));
    stream.push(chunk({ function_call: { arguments: 'and":"pwd"}' } }));
    expect(stream.push(chunk({}, 'function_call'))).toEqual([
      { id: 'x', name: 'bash', args: { command: 'ls' } },
      { id: 'call_1', name: 'bash', args: { command: 'pwd' }, madeUp: true, turn: 'c' },
    ]);
    expect(stream.end()).toMatchObject({
      calls: [{ id: 'x' }, { id: 'call_1' }],
      errors: [],
      origins: [{ callId: 'call_1', item: 'legacy_function_call' }],
    });
  });

  it('says of calls before a finish_reason that they are unfinished', () => {
    const stream = createCallStream('openai');
    stream.push(chunk({ function_call: { name: 'bash', arguments: '{"comm' } }));
    expect(stream.end()).toMatchObject({
      calls: [],
      errors: [{ index: 0, id: 'call_0', name: 'bash', unfinished: true }],
      origins: [{ item: 'legacy_function_call' }],
    });
  });
});

function custom(id: string | undefined, name: string | undefined, input: string) {
  return { index: 0, id, type: 'custom', custom: { name, input } };
}
