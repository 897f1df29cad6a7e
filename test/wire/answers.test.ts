import type Anthropic from '@anthropic-ai/sdk';
import type { Content, FunctionDeclaration, GenerateContentResponse, Tool } from '@google/genai';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { createCallStream, describeTools, readCalls, writeResults } from '../../src/protocols.js';
import { failure, success } from './results.js';

/*
 * Compiled against the providers' own types: an answer goes into the SDK's messages without a cast.
 */

const direct = { type: 'direct' } as const;
const content = [
  { type: 'tool_use', id: 'toolu_1', name: 'bash', input: {}, caller: direct },
  { type: 'tool_use', id: 'toolu_2', name: 'bash', input: 'broken', caller: direct },
] satisfies Anthropic.ContentBlock[];

describe('an answer in the types of its SDK', () => {
  it('Anthropic', () => {
    const read = readCalls({ id: 'msg_1', role: 'assistant', content }, { format: 'anthropic' });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Go.' }];
    messages.push(read.answer([success('toolu_1')]));
    expect(read.id).toBe('msg_1');
    expect(messages[1]).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: '(no output)' },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_2',
          content: expect.stringContaining('Error: Cannot read'),
          is_error: true,
        },
      ],
    });
  });

  it('OpenAI chat completions', () => {
    const tool_calls = [{ id: 'a', type: 'function', function: { name: 'bash', arguments: '{}' } }];
    const completion = { id: 'chatcmpl-1', choices: [{ message: { role: 'assistant', tool_calls } }] };
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [];
    const read = readCalls(completion, { format: 'openai' });
    messages.push(...read.answer([success('a')]));
    expect(read.id).toBe('chatcmpl-1');
    expect(messages).toEqual([{ role: 'tool', tool_call_id: 'a', content: '(no output)' }]);
  });

  it('OpenAI responses, in the kinds that the response asked for', () => {
    const output = [
      { type: 'function_call', call_id: 'a', name: 'bash', arguments: '{}' },
      { type: 'shell_call', call_id: 'b', action: { commands: ['ls'], max_output_length: 99 } },
      { type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: ['ls'] } },
      { type: 'apply_patch_call', call_id: 'd', operation: { type: 'delete_file', path: 'x' } },
      { type: 'custom_tool_call', call_id: 'e', name: 'bash', input: 'ls' },
    ];
    const read = readCalls({ id: 'resp_1', object: 'response', output }, { format: 'openai-responses' });
    const input: OpenAI.Responses.ResponseInputItem[] = [];
    input.push(...read.answer(read.calls.map(({ id }) => success(id)).reverse()));
    expect(read.id).toBe('resp_1');
    expect(input).toMatchObject([
      { type: 'function_call_output', call_id: 'a' },
      { type: 'shell_call_output', call_id: 'b', max_output_length: 99 },
      { type: 'local_shell_call_output', call_id: 'c' },
      { type: 'apply_patch_call_output', call_id: 'd', status: 'completed' },
      { type: 'custom_tool_call_output', call_id: 'e' },
    ]);
  });

  it('Gemini, whose made-up ids stay out of the answer and in native results', () => {
    const parts = [
      { functionCall: { name: 'bash', args: {} } },
      { functionCall: { id: 'fc-1', name: 'bash', args: {} } },
      { functionCall: 'broken' },
    ];
    const response = { responseId: 'r-1', candidates: [{ content: { role: 'model', parts } }] };
    const read = readCalls(response, { format: 'gemini' });
    expect(read.calls).toEqual([
      { id: 'call_0', name: 'bash', args: {}, madeUp: true, turn: 'r-1' },
      { id: 'fc-1', name: 'bash', args: {} },
    ]);
    const results = [failure('call_0', ['timeout', 'too slow']), success('fc-1')];
    const contents: Content[] = [];
    contents.push(read.answer(results));
    expect(contents[0]?.parts).toEqual([
      { functionResponse: { name: 'bash', response: { error: 'Error: too slow' } } },
      { functionResponse: { id: 'fc-1', name: 'bash', response: { output: '(no output)' } } },
      { functionResponse: { name: '', response: { error: expect.stringContaining('Cannot read') } } },
    ]);
    expect(writeResults('native', results)[0]?.tool_call_id).toBe('call_0');
    const stream = createCallStream('gemini');
    const broken = () => {
      throw new Error('broken');
    };
    stream.push(new Proxy({}, { get: broken }));
    expect(stream.end().answer([]).parts).toEqual([
      { functionResponse: { name: '', response: { error: expect.stringContaining('broken') } } },
    ]);
  });

  it('of a response whose format shows when it is read: the format tells the type', () => {
    const read = readCalls({ role: 'assistant', content });
    const messages: Anthropic.MessageParam[] = [];
    if (read.format === 'anthropic') messages.push(read.answer([success('toolu_1')]));
    expect(messages).toHaveLength(1);
  });

  it('without its response', () => {
    const message: Anthropic.MessageParam = writeResults('anthropic', [success('a')]);
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = writeResults('openai', [success('a')]);
    const origins = [{ callId: 'a', item: 'shell_call', maxOutputLength: 9 }] as const;
    const items: OpenAI.Responses.ResponseInputItem[] = writeResults(
      'openai-responses',
      [success('a')],
      origins,
    );
    expect([message.role, messages.length]).toEqual(['user', 1]);
    expect(items).toMatchObject([{ type: 'shell_call_output', max_output_length: 9 }]);
    expect(writeResults('openai-responses', [success('a')], { origins })).toEqual(items);
    expect(writeResults('openai-responses', [success('a')], {})).toMatchObject([
      { type: 'function_call_output' },
    ]);
  });
});

describe("Gemini's tools in the types of its SDK", () => {
  it('are what the request takes', () => {
    const definition = {
      name: 'search',
      description: 'Finds lines.',
      inputSchema: {
        type: 'object',
        properties: { text: { type: 'string' }, lines: { type: 'array', items: { type: 'integer' } } },
        required: ['text'],
      },
    };
    const tools: Tool[] = describeTools('gemini', [definition]);
    const declarations: FunctionDeclaration[] | undefined = tools[0]?.functionDeclarations;
    expect(declarations?.[0]?.parameters?.properties?.text?.type).toBe('string');
  });
});

describe('the id of a response', () => {
  const call = { name: 'bash', args: {} };
  const parts = [{ functionCall: call }];
  const chunk = (responseId?: string) => ({
    ...(responseId === undefined ? {} : { responseId }),
    candidates: [{ content: { role: 'model', parts } }],
  });

  it.each([
    ['anthropic', { type: 'tool_use', id: 'toolu_1', name: 'bash', input: {} }],
    ['anthropic', [{ type: 'tool_use', id: 'toolu_1', name: 'bash', input: {} }]],
    ['openai', { id: 'x', role: 'assistant', tool_calls: [] }],
    ['openai-responses', [{ type: 'function_call', id: 'fc_1', call_id: 'a', name: 'x', arguments: '{}' }]],
    ['gemini', { role: 'model', parts }],
    ['native', [{ id: 'a', ...call }]],
  ])('%s: a part of a response has none', (format, input) => {
    expect(readCalls(input)).toMatchObject({ format, shape: 'known' });
    expect(readCalls(input)).not.toHaveProperty('id');
  });

  it.each([
    ['id', 5],
    ['id', ''],
    ['id', null],
  ])('is a text or not there: %s %j', (key, id) => {
    expect(readCalls({ [key]: id, role: 'assistant', content })).not.toHaveProperty('id');
  });

  it('comes with the events of a stream', () => {
    const events = {
      anthropic: [
        { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', content: [] } },
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', name: 'bash', input: {} },
        },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_stop' },
      ],
      openai: [
        {
          id: 'chatcmpl-1',
          choices: [
            {
              index: 0,
              delta: { function_call: { name: 'bash', arguments: '{}' } },
              finish_reason: 'function_call',
            },
          ],
        },
      ],
      'openai-responses': [
        { type: 'response.created', response: { id: 'resp_1', object: 'response', output: [] } },
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { type: 'function_call', id: 'fc_1', name: 'bash', arguments: '{}' },
        },
      ],
      gemini: [chunk('r-1'), chunk('r-1')],
    } as const;
    const ids = { anthropic: 'msg_1', openai: 'chatcmpl-1', 'openai-responses': 'resp_1', gemini: 'r-1' };
    for (const format of ['anthropic', 'openai', 'openai-responses', 'gemini'] as const) {
      const stream = createCallStream(format);
      const pushed = events[format].flatMap((event) => stream.push(event));
      const read = stream.end();
      expect(read.id).toBe(ids[format]);
      expect(pushed[0]).toMatchObject({ id: 'call_0', madeUp: true, turn: ids[format] });
      expect(read.calls).toEqual(pushed);
      const text = events[format].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      expect(readCalls(text)).toMatchObject({ format, id: ids[format], calls: read.calls });
    }
    expect(readCalls([chunk('r-1'), chunk('r-1')])).toMatchObject({ format: 'gemini', id: 'r-1' });
  });

  it('is not part of a call whose id is the provider’s own', () => {
    const { calls } = readCalls({ id: 'msg_1', role: 'assistant', content: content.slice(0, 1) });
    expect(calls).toEqual([{ id: 'toolu_1', name: 'bash', args: {} }]);
  });

  it('takes the objects of an SDK as they are', () => {
    const response: Pick<GenerateContentResponse, 'candidates' | 'responseId'> = {
      responseId: 'r-9',
      candidates: [{ content: { role: 'model', parts } }],
    };
    expect(readCalls(response)).toMatchObject({ id: 'r-9', calls: [{ turn: 'r-9' }] });
  });
});
