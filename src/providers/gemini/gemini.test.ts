import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import { createCallStream } from '../create-call-stream.js';
import { readCalls } from '../read-calls.js';
import { writeResults } from '../write-results.js';

const content = {
  role: 'model',
  parts: [
    { text: 'I will look.' },
    { functionCall: { name: 'bash', args: { command: 'ls' } }, thoughtSignature: 's' },
    { functionCall: { id: 'fc-2', name: 'list_directory' } },
  ],
};

const response = {
  candidates: [
    { content, finishReason: 'STOP' },
    { content: { role: 'model', parts: [{ functionCall: { name: 'other', args: {} } }] } },
  ],
};

const calls = [
  { id: 'call_0', name: 'bash', args: { command: 'ls' }, madeUp: true },
  { id: 'fc-2', name: 'list_directory', args: {} },
];

describe('gemini: reading', () => {
  it.each([
    ['a response, of several candidates the first', response],
    ['its JSON text', JSON.stringify(response)],
    ['a content', content],
    ['a content without a role', { parts: content.parts }],
  ])('takes %s', (_, input) => {
    const origins = [{ callId: 'call_0', unnamed: true }];
    expect(readCalls(input)).toEqual({
      format: 'gemini',
      calls,
      errors: [],
      shape: 'known',
      answer: expect.any(Function),
      origins,
    });
  });

  it.each([
    ['text alone', { candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] } }] }],
    ['no parts', { candidates: [{ content: { role: 'model' }, finishReason: 'MALFORMED_FUNCTION_CALL' }] }],
    ['no candidates', { candidates: [] }],
  ])('knows a response with %s: no calls', (_, input) => {
    expect(readCalls(input)).toEqual({
      format: 'gemini',
      calls: [],
      errors: [],
      shape: 'known',
      answer: expect.any(Function),
    });
  });

  it('does not take a call out of a user content', () => {
    expect(readCalls({ ...content, role: 'user' })).toMatchObject({ calls: [], shape: 'unknown' });
  });

  it('names each malformed call in its place', () => {
    const parts = [
      { functionCall: 'bash' },
      { functionCall: { args: {} } },
      { functionCall: { name: 'a', args: [] } },
    ];
    expect(readCalls({ parts })).toMatchObject({
      calls: [],
      errors: [
        { index: 0, id: 'call_0', message: expect.stringContaining('"functionCall"') },
        { index: 1, id: 'call_1', message: expect.stringContaining('"name" is missing') },
        { index: 2, id: 'call_2', name: 'a', message: expect.stringContaining('"args" is an array') },
      ],
    });
  });
});

describe('gemini: writing', () => {
  it('groups all results in one content, without the ids that were made up', () => {
    const base = { toolName: 'bash', truncated: false, executionTimeMs: 1, metadata: {} };
    const results: ToolResult[] = [
      { ...base, callId: 'call_0', success: true, output: 'out' },
      {
        ...base,
        callId: 'fc-2',
        success: false,
        output: 'kept',
        error: { code: 'timeout', message: 'too slow' },
      },
    ];
    expect(writeResults('gemini', results)).toEqual({
      role: 'user',
      parts: [
        { functionResponse: { name: 'bash', response: { output: 'out' } } },
        { functionResponse: { id: 'fc-2', name: 'bash', response: { error: 'Error: too slow\n\nkept' } } },
      ],
    });
  });
});

describe('gemini: streaming', () => {
  it('takes the whole calls out of each chunk', () => {
    const stream = createCallStream('gemini');
    const chunk = (...parts: unknown[]) => ({ candidates: [{ content: { role: 'model', parts } }] });
    expect(stream.push(chunk({ text: 'I' }))).toEqual([]);
    expect(stream.push(chunk(content.parts[1]))).toEqual([calls[0]]);
    expect(stream.push('noise')).toEqual([]);
    expect(stream.push(chunk(content.parts[2]))).toEqual([calls[1]]);
    expect(stream.end()).toMatchObject({ calls, errors: [], origins: [{ callId: 'call_0', unnamed: true }] });
  });
});

describe('gemini: a call whose arguments come in pieces', () => {
  const chunk = (...calls: object[]) => ({
    responseId: 'r',
    candidates: [{ content: { role: 'model', parts: calls.map((functionCall) => ({ functionCall })) } }],
  });
  const pieces = (...partialArgs: object[]) => chunk({ partialArgs, willContinue: true });

  it('is given when its last piece has come', () => {
    const stream = createCallStream('gemini');
    for (const event of [
      chunk({ name: 'write_file', willContinue: true }),
      pieces({ jsonPath: '$.path', stringValue: 'a' }),
      pieces({ jsonPath: '$.content', stringValue: 'one ', willContinue: true }),
      pieces({ jsonPath: '$.content', stringValue: 'two', willContinue: true }),
      pieces({ jsonPath: '$.content', stringValue: '' }, { jsonPath: '$.mode[0].deep', numberValue: 7 }),
      pieces({ jsonPath: '$["a b"]', boolValue: false }, { jsonPath: '$.mode[1]', nullValue: 'NULL_VALUE' }),
    ]) {
      expect(stream.push(event)).toEqual([]);
    }
    const args = { path: 'a', content: 'one two', mode: [{ deep: 7 }, null], 'a b': false };
    expect(stream.push(chunk({}))).toEqual([
      { id: 'call_0', name: 'write_file', args, madeUp: true, turn: 'r' },
    ]);
    expect(stream.push(chunk({ id: 'x', name: 'bash', args: {} }))).toMatchObject([{ id: 'x', args: {} }]);
    expect(stream.end()).toMatchObject({ calls: [{}, {}], errors: [] });
  });

  it('is unfinished where the stream ends, or another call begins', () => {
    const stream = createCallStream('gemini');
    stream.push(chunk({ id: 'a', name: 'bash', willContinue: true }));
    stream.push(pieces({ jsonPath: '$.command', stringValue: 'rm' }));
    expect(stream.push(chunk({ id: 'b', name: 'glob', args: {} }))).toMatchObject([{ id: 'b' }]);
    stream.push(chunk({ id: 'c', name: 'bash', willContinue: true }));
    expect(stream.end().errors).toMatchObject([
      { index: 0, id: 'a', unfinished: true },
      { index: 2, id: 'c', unfinished: true },
    ]);
  });

  it.each(['$', 'command', '$.a[1]', '$.__proto__.x', '$.a..b', '$.command.x', '$[0]', 5])(
    'cannot be read if a piece has the path %j',
    (jsonPath) => {
      const stream = createCallStream('gemini');
      stream.push(chunk({ id: 'a', name: 'bash', willContinue: true }));
      stream.push(pieces({ jsonPath: '$.command', stringValue: 'ls' }, { jsonPath, stringValue: 'x' }));
      expect(stream.push(chunk({}))).toEqual([]);
      expect(stream.end().errors).toMatchObject([
        { id: 'a', message: expect.stringContaining('a piece of its arguments') },
      ]);
    },
  );
});
