import type { Content, FunctionCall, Part } from '@google/genai';
import { describe, expect, it } from 'vitest';
import { answerReadErrors, createCallStream, readCalls, writeResults } from '../../src/protocols.js';
import { failure, success } from './results.js';

const called = (call: FunctionCall): Part => ({ functionCall: call });

const parts: Part[] = [
  { text: 'I think', thought: true },
  { text: 'I will look.' },
  { ...called({ id: 'fc-1', name: 'bash', args: { command: 'ls' } }), thoughtSignature: 'c2ln' },
  called({ name: 'bash', args: { command: 'pwd' } }),
  { executableCode: { code: 'print(1)' } },
  called({ name: 'list_directory' }),
];
const content: Content = { role: 'model', parts };
const response = { candidates: [{ content, finishReason: 'STOP', index: 0 }], modelVersion: 'gemini-3' };

const calls = [
  { id: 'fc-1', name: 'bash', args: { command: 'ls' } },
  { id: 'call_1', name: 'bash', args: { command: 'pwd' }, madeUp: true },
  { id: 'call_2', name: 'list_directory', args: {}, madeUp: true },
];

describe('Gemini: a response', () => {
  it.each([
    ['a response', response],
    ['its content', content],
    ['its parts', parts],
    ['its JSON', JSON.stringify(response)],
    ['the chunks of a stream as one list', [response, { candidates: [] }]],
    [
      'chunks of which the last one has only the usage',
      [response, { usageMetadata: { promptTokenCount: 3 } }],
    ],
    [
      'the spelling of other libraries',
      {
        role: 'model',
        parts: parts.map(({ functionCall, ...rest }) => ({ ...rest, function_call: functionCall })),
      },
    ],
  ])('%s: parallel calls with and without ids, in order', (_, input) => {
    const read = readCalls(input);
    expect(read).toMatchObject({ format: 'gemini', errors: [], shape: 'known' });
    expect(read.calls).toEqual(calls);
  });

  it.each([
    ['whose prompt was blocked', { promptFeedback: { blockReason: 'SAFETY' }, modelVersion: 'gemini-3' }],
    ['whose prompt was blocked, as Python spells it', { candidates: null, prompt_feedback: {} }],
    ['that stopped before it began', { candidates: [{ finishReason: 'SAFETY', index: 0 }] }],
    ['that only counts tokens', { responseId: 'r', usageMetadata: { promptTokenCount: 3 } }],
  ])('%s is a response without calls', (_, input) => {
    expect(readCalls(input)).toMatchObject({ format: 'gemini', calls: [], errors: [], shape: 'known' });
    expect(readCalls([input]).shape).toBe('known');
  });

  it('takes one lone part', () => {
    expect(readCalls(parts[2]).calls).toEqual([calls[0]]);
  });

  it('is answered with one content: an id where there was one, the order everywhere', () => {
    const read = readCalls(response);
    const results = [
      success('fc-1', { output: 'a.txt' }),
      failure('call_1', ['timeout', 'too slow']),
      success('call_2', { toolName: 'list_directory' }),
    ];
    expect(writeResults('gemini', results, read)).toEqual({
      role: 'user',
      parts: [
        { functionResponse: { id: 'fc-1', name: 'bash', response: { output: 'a.txt' } } },
        { functionResponse: { name: 'bash', response: { error: 'Error: too slow' } } },
        { functionResponse: { name: 'list_directory', response: { output: '(no output)' } } },
      ],
    } satisfies Content);
  });

  it('answers a malformed part in its place', () => {
    const read = readCalls({ parts: [called({ name: 'a' }), { functionCall: 'b' }, called({ name: 'c' })] });
    const results = answerReadErrors([success('call_0'), success('call_2')], read.errors);
    expect(writeResults('gemini', results, read)).toMatchObject({
      parts: [
        { functionResponse: { response: { output: '(no output)' } } },
        { functionResponse: { response: { error: expect.stringContaining('"functionCall"') } } },
        { functionResponse: { response: { output: '(no output)' } } },
      ],
    });
  });

  it('is a stream whose parts are whole, of several candidates that of the first', () => {
    const stream = createCallStream('gemini');
    expect(stream.push({ candidates: [{ index: 1, content }] })).toEqual([]);
    expect(stream.push(response)).toEqual(calls);
    expect(stream.end().errors).toEqual([]);
  });
});
