import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../contract/call.js';
import { isToolError } from '../errors/tool-error.js';
import { createCallStream } from './create-call-stream.js';
import { readCalls } from './read-calls.js';
import { answerReadErrors } from './response-calls.js';
import { writeResults } from './write-results.js';

const done = (callId: string, output = callId): ToolResult => ({
  callId,
  toolName: 'bash',
  success: true,
  output,
  truncated: false,
  executionTimeMs: 1,
  metadata: {},
});

const native = (...calls: readonly (readonly [id: string | undefined, args: unknown])[]) =>
  readCalls(
    calls.map(([id, args]) => ({ ...(id === undefined ? {} : { id }), name: 'bash', args })),
    { format: 'native' },
  );

const outputs = (
  answered: readonly { readonly output: string; readonly error?: { readonly code: string } }[],
) => answered.map(({ output, error }) => error?.code ?? output);

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (isToolError(error, 'bad_args')) return error.message;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('answer()', () => {
  it('writes what writeResults writes', () => {
    const response = {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'a', name: 'bash', input: {} },
        { type: 'tool_use', id: 'b', name: 'bash', input: {} },
      ],
    };
    const results = [done('a'), done('b')];
    expect(readCalls(response).answer(results)).toEqual(writeResults('anthropic', results));
  });

  it('answers by call id, whatever the order of the results, and malformed calls in their place', () => {
    const read = native(['a', {}], ['b', 'broken'], [undefined, {}], ['d', {}]);
    expect(outputs(read.answer([done('d'), done('call_2'), done('a')]))).toEqual([
      'a',
      'bad_args',
      'call_2',
      'd',
    ]);
  });

  it('takes results for malformed calls that are among them', () => {
    const read = native(['a', {}], ['b', 'broken']);
    expect(outputs(read.answer([done('a'), done('b', 'my own words')]))).toEqual(['a', 'my own words']);
    expect(outputs(read.answer([done('b', 'my own words'), done('a')]))).toEqual(['a', 'my own words']);
  });

  it('gives several calls of one id each its own result, and the error among them its own words', () => {
    const read = native(['a', {}], ['a', 'broken'], ['a', {}]);
    expect(outputs(read.answer([done('a', 'first'), done('a', 'second')]))).toEqual([
      'first',
      'bad_args',
      'second',
    ]);
  });

  it('refuses a missing result, a foreign one and one too many, and names the call', () => {
    const read = native(['a', {}], ['b', {}]);
    expect(refusal(() => read.answer([done('a')]))).toContain('the call "b" of "bash" has no result');
    expect(refusal(() => read.answer([]))).toContain('"a"');
    expect(refusal(() => read.answer([done('a'), done('b'), done('c')]))).toContain('no call "c"');
    expect(refusal(() => read.answer([done('a'), done('a'), done('b')]))).toContain(
      'the call "a" has more than one result',
    );
    expect(refusal(() => read.answer('results' as never))).toContain('an array of results');
  });

  it('answers a response without a call with nothing', () => {
    expect(native().answer([])).toEqual([]);
    expect(readCalls({ role: 'assistant', content: [] }, { format: 'anthropic' }).answer([])).toEqual({
      role: 'user',
      content: [],
    });
  });

  it('can be taken apart from its response', () => {
    const { calls, answer } = readCalls('```tool\n{"name":"bash","args":{}}\n```');
    expect(answer(calls.map(({ id }) => done(id)))).toMatchObject([{ tool_call_id: 'call_0' }]);
  });

  it('answers a result each, in the order of the calls, for any response and any order of results', () => {
    const call = fc.tuple(
      fc.option(fc.constantFrom('a', 'b', 'call_0', 'call_1'), { nil: undefined }),
      fc.constantFrom({}, 'broken'),
    );
    fc.assert(
      fc.property(fc.array(call, { maxLength: 6 }), fc.infiniteStream(fc.nat()), (calls, random) => {
        const read = native(...calls);
        const results = read.calls.map(({ id }, index) => done(id, `${id} ${index}`));
        const shuffled = results
          .map((result) => ({ result, at: Number(random.next().value) }))
          .sort((one, other) => one.at - other.at)
          .map(({ result }) => result);
        const answered = read.answer(shuffled);
        expect(answered).toHaveLength(calls.length);
        const good = answered.filter(({ success }) => success);
        expect(good.map(({ tool_call_id }) => tool_call_id)).toEqual(read.calls.map(({ id }) => id));
        expect(new Set(good.map(({ output }) => output)).size).toBe(results.length);
        for (const { index } of read.errors) expect(answered[index]?.error?.code).toBe('bad_args');
      }),
    );
  });
});

describe('readCalls() with a format', () => {
  it('takes only a response of that format', () => {
    const completion = { id: 'c', choices: [{ message: { role: 'assistant', content: 'hi' } }] };
    const read = readCalls(completion, { format: 'anthropic' });
    expect(read).toMatchObject({
      format: 'anthropic',
      calls: [],
      errors: [{ index: 0, message: expect.stringContaining('another shape than anthropic') }],
      shape: 'unknown',
    });
    expect(refusal(() => read.answer([]))).toContain('there is no response to answer');
    expect(readCalls(JSON.stringify(completion), { format: 'openai' })).toMatchObject({
      format: 'openai',
      id: 'c',
      shape: 'known',
    });
    expect(readCalls('just text', { format: 'openai' })).toMatchObject({
      format: 'openai',
      shape: 'unknown',
    });
    expect(readCalls('just text', { format: 'fenced' })).toMatchObject({ format: 'fenced', shape: 'known' });
    expect(readCalls({ broken: true }, { format: 'fenced' })).toMatchObject({ shape: 'unknown' });
  });

  it('refuses an unknown format', () => {
    expect(() => readCalls({}, { format: 'soap' as never })).toThrow('There is no wire format "soap"');
  });

  it('tells the model what was wrong where no format is named', () => {
    const read = readCalls('{"name": "bash", "args":');
    expect(read).toMatchObject({ format: 'native', shape: 'unknown' });
    expect(read.answer([])).toMatchObject([{ tool_call_id: 'call_0', error: { code: 'bad_args' } }]);
  });
});

describe('createCallStream(): what end() gives', () => {
  it('holds all calls, including those that push returned, and is the same object each time', () => {
    const stream = createCallStream('native');
    const pushed = stream.push([
      { id: 'a', name: 'bash', args: {} },
      { name: 'bash', args: 1 },
    ]);
    stream.push({ name: 'bash', args: {} });
    const read = stream.end();
    expect(read.calls).toMatchObject([{ id: 'a' }, { id: 'call_2', madeUp: true }]);
    expect(read.calls[0]).toBe(pushed[0]);
    expect(read.errors).toMatchObject([{ index: 1 }]);
    expect(stream.end()).toBe(read);
    expect(stream.push({ id: 'late', name: 'bash', args: {} })).toEqual([]);
    expect(stream.end().calls).toHaveLength(2);
    expect(outputs(read.answer(read.calls.map(({ id }) => done(id))))).toEqual(['a', 'bad_args', 'call_2']);
  });

  it('answers a stream that ended inside a call in its place', () => {
    const stream = createCallStream('fenced');
    stream.push('```tool\n{"name":"bash","args":{}}\n```\n```tool\n{"name":');
    const read = stream.end();
    expect(outputs(read.answer([done('call_0')]))).toEqual(['call_0', 'bad_args']);
  });
});

describe('answerReadErrors()', () => {
  it('answers every malformed call in its place', () => {
    const bad = (id: string) => ({ id, name: 'x' });
    const good = (id: string) => ({ id, name: 'x', args: {} });
    const read = readCalls([bad('a'), good('b'), bad('c'), bad('d'), good('e'), good('f'), bad('g')]);
    const answered = answerReadErrors(
      read.calls.map((call) => done(call.id)),
      read.errors,
    );
    expect(answered.map((result) => result.callId)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(answered[0]).toEqual({
      callId: 'a',
      toolName: 'x',
      success: false,
      output: '',
      error: { code: 'bad_args', message: read.errors[0]?.message, details: { executed: 'no' } },
      truncated: false,
      executionTimeMs: 0,
      metadata: {},
    });
  });

  it('loses no error when results are missing, and adds none', () => {
    const error = { index: 7, id: 'late', message: 'm' };
    expect(answerReadErrors([done('a')], [error]).map((result) => result.callId)).toEqual(['a', 'late']);
    expect(answerReadErrors([done('a')], [])).toEqual([done('a')]);
    expect(answerReadErrors([], [{ index: 0, message: 'm' }])).toMatchObject([
      { callId: 'call_0', toolName: '' },
    ]);
  });
});
