import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import { createCallStream } from '../create-call-stream.js';
import { readCalls } from '../read-calls.js';
import { writeResults } from '../write-results.js';

const success: ToolResult = {
  callId: 'c1',
  toolName: 'bash',
  success: true,
  output: 'file1',
  truncated: false,
  executionTimeMs: 100,
  metadata: { exit_code: 0 },
};

describe('native: reading', () => {
  it('takes one call', () => {
    const input = { id: 'c1', name: 'bash', args: { command: 'ls' }, reason: 'to see', more: 1 };
    const expected = { id: 'c1', name: 'bash', args: { command: 'ls' }, reason: 'to see' };
    expect(readCalls(input)).toEqual({
      format: 'native',
      calls: [expected],
      errors: [],
      shape: 'known',
      answer: expect.any(Function),
    });
    expect(readCalls(` ${JSON.stringify(input)}\n`)).toMatchObject({ format: 'native', calls: [expected] });
  });

  it('takes an array of calls, in order, and makes the missing ids', () => {
    const input = [
      { name: 'a', args: {} },
      { id: '', name: 'b', args: {}, reason: '' },
      { id: 'x', name: 'c', args: {} },
    ];
    expect(readCalls(input)).toEqual({
      format: 'native',
      calls: [
        { id: 'call_0', name: 'a', args: {}, madeUp: true },
        { id: 'call_1', name: 'b', args: {}, madeUp: true },
        { id: 'x', name: 'c', args: {} },
      ],
      errors: [],
      shape: 'known',
      answer: expect.any(Function),
    });
  });

  it('takes an empty array as a response without a call', () => {
    expect(readCalls('[]')).toEqual({
      format: 'native',
      calls: [],
      errors: [],
      shape: 'known',
      answer: expect.any(Function),
    });
  });

  it('names each malformed call in its place, with what came and what was expected', () => {
    const input = [
      { id: 'a', name: 'bash' },
      { id: 'b', name: 'bash', args: ['ls'] },
      { id: 'c', name: 'bash', args: null },
      { id: 'd', args: {} },
      { id: 'e', name: '', args: {} },
      { id: 'f', name: 7, args: {} },
      { id: 8, name: 'bash', args: {} },
      { id: 'h', name: 'bash', args: {}, reason: 3 },
      'bash',
      { id: 'good', name: 'bash', args: {} },
    ];
    const read = readCalls(input);
    expect(read.calls).toEqual([{ id: 'good', name: 'bash', args: {} }]);
    expect(read.errors.map(({ index, id, name }) => [index, id, name])).toEqual([
      [0, 'a', 'bash'],
      [1, 'b', 'bash'],
      [2, 'c', 'bash'],
      [3, 'd', undefined],
      [4, 'e', undefined],
      [5, 'f', undefined],
      [6, 'call_6', 'bash'],
      [7, 'h', 'bash'],
      [8, 'call_8', undefined],
    ]);
    expect(read.errors.map((error) => error.message)).toEqual([
      'Cannot read the call of "bash": "args" is missing, a JSON object with the arguments was expected. Send {} when there are none.',
      'Cannot read the call of "bash": "args" is an array, a JSON object with the arguments was expected. Send {} when there are none.',
      'Cannot read the call of "bash": "args" is null, a JSON object with the arguments was expected. Send {} when there are none.',
      'Cannot read call 4: "name" is missing, the name of a tool was expected.',
      'Cannot read call 5: "name" is the string "", the name of a tool was expected.',
      'Cannot read call 6: "name" is the number 7, the name of a tool was expected.',
      'Cannot read the call of "bash": "id" is the number 8, a string was expected.',
      'Cannot read the call of "bash": "reason" is the number 3, a string was expected. Leave it out when there is none.',
      'Cannot read call 9: it is the string "bash", one object {"name", "args"} was expected.',
    ]);
  });
});

describe('native: writing', () => {
  it('writes an array even for one result, every field under its wire name and in order', () => {
    const written = writeResults('native', [success]);
    expect(JSON.stringify(written)).toBe(
      '[{"tool_call_id":"c1","tool_name":"bash","success":true,"output":"file1","truncated":false,"execution_time_ms":100,"metadata":{"exit_code":0}}]',
    );
  });

  it('writes error, output_ref and structured where they are', () => {
    const results: ToolResult[] = [
      { ...success, output: '', outputRef: 'toolexec-output:1', structured: [1], truncated: true },
      {
        ...success,
        callId: 'c2',
        success: false,
        output: 'kept',
        error: { code: 'execution_failed', message: 'boom', details: { executed: 'yes' } },
      },
    ];
    expect(writeResults('native', results)).toEqual([
      {
        tool_call_id: 'c1',
        tool_name: 'bash',
        success: true,
        output: '',
        truncated: true,
        execution_time_ms: 100,
        metadata: { exit_code: 0 },
        output_ref: 'toolexec-output:1',
        structured: [1],
      },
      {
        tool_call_id: 'c2',
        tool_name: 'bash',
        success: false,
        output: 'kept',
        error: { code: 'execution_failed', message: 'boom' },
        truncated: false,
        execution_time_ms: 100,
        metadata: { exit_code: 0 },
      },
    ]);
    expect(writeResults('native', [])).toEqual([]);
  });

  it('writes a hint for the developer, and no provider is sent it', () => {
    const error = { code: 'policy_denied', message: 'Not allowed.', hint: 'Change rule 2.' } as const;
    const failure: ToolResult = { ...success, success: false, output: '', error };
    expect(writeResults('native', [failure])).toMatchObject([{ error }]);
    for (const format of ['anthropic', 'openai', 'openai-responses', 'gemini'] as const) {
      expect(JSON.stringify(writeResults(format, [failure]))).not.toContain('Change rule 2.');
    }
  });

  it('keeps a fence in the output on one line of JSON', () => {
    const written = JSON.stringify(writeResults('fenced', [{ ...success, output: 'a\n```\nb' }]));
    expect(written).not.toContain('\n');
    expect(JSON.parse(written)).toMatchObject([{ output: 'a\n```\nb' }]);
  });
});

describe('native: streaming', () => {
  it('takes a call or an array of calls an event', () => {
    const stream = createCallStream('native');
    expect(stream.push({ id: 'a', name: 'x', args: {} })).toEqual([{ id: 'a', name: 'x', args: {} }]);
    expect(stream.push([{ name: 'y', args: {} }, { name: 'z' }])).toEqual([
      { id: 'call_1', name: 'y', args: {}, madeUp: true },
    ]);
    expect(stream.push(null)).toEqual([]);
    expect(stream.end()).toMatchObject({
      calls: [{ id: 'a' }, { id: 'call_1' }],
      errors: [
        { index: 2, name: 'z' },
        { index: 3, id: 'call_3' },
      ],
    });
  });
});
