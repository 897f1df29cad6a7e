import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../contract/json.js';
import type { ModelEnd } from '../model.js';
import type { HttpFormat } from '../registry.js';
import { createModel } from './create-model.js';
import { type Asked, ask, succeeds, TOOLS } from './fixtures/ask.js';
import { LIMIT_MS, playWorld } from './fixtures/played-world.js';
import { CALLS, RECORDINGS, TEXT, toWire, USAGE } from './fixtures/recordings.js';
import { answerMessage } from './messages.js';

async function stream(format: HttpFormat, ...events: readonly JsonObject[]): Promise<Asked> {
  const options = { model: 'm', apiKey: 'k', retries: 0, timeoutMs: LIMIT_MS };
  return ask(createModel(format, options, playWorld({ chunks: [toWire({ format, events })] })), {
    tools: TOOLS,
  });
}

const TOOL_USE = { type: 'tool_use', id: 'a', name: 'read_file', input: {} };
const begin = (index: number, content_block: JsonObject): JsonObject => ({
  type: 'content_block_start',
  index,
  content_block,
});
const json = (index: number, partial_json: string): JsonObject => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'input_json_delta', partial_json },
});
const stop = (index: number): JsonObject => ({ type: 'content_block_stop', index });
const stopFor = (stop_reason: string): JsonObject => ({ type: 'message_delta', delta: { stop_reason } });

const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason }],
});
const fragment = (more: JsonObject): JsonObject => chunk({ tool_calls: [more] });
const candidate = (parts: readonly JsonObject[], finishReason?: string): JsonObject => ({
  candidates: [
    { content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
});
const closed = (type: 'completed' | 'incomplete', reason?: string): JsonObject => ({
  type: `response.${type}`,
  response: { status: type, output: [], ...(reason === undefined ? {} : { incomplete_details: { reason } }) },
});

describe('why an answer ended', () => {
  const says = (text: string): JsonObject => ({ type: 'response.output_text.delta', delta: text });
  it.each<[HttpFormat, readonly JsonObject[], ModelEnd['stopReason']]>([
    ['anthropic', [stopFor('end_turn')], 'end'],
    ['anthropic', [stopFor('stop_sequence')], 'end'],
    ['anthropic', [stopFor('max_tokens')], 'length'],
    ['anthropic', [stopFor('model_context_window_exceeded')], 'length'],
    ['anthropic', [stopFor('refusal')], 'refused'],
    ['anthropic', [stopFor('tool_use')], 'end'],
    ['anthropic', [begin(0, TOOL_USE), stop(0), stopFor('end_turn')], 'tool_calls'],
    ['anthropic', [begin(0, TOOL_USE), json(0, '{'), stop(0), stopFor('max_tokens')], 'tool_calls'],
    ['anthropic', [begin(0, TOOL_USE), stop(0), stopFor('refusal')], 'refused'],
    ['openai', [chunk({ content: 'hi' }, 'stop')], 'end'],
    ['openai', [chunk({ content: 'hi' }, 'length')], 'length'],
    ['openai', [chunk({ content: 'hi' }, 'content_filter')], 'refused'],
    ['openai', [chunk({ refusal: 'I cannot.' }), chunk({}, 'stop')], 'refused'],
    [
      'openai',
      [fragment({ id: 'a', function: { name: 'x', arguments: '{}' } }), chunk({}, 'stop')],
      'tool_calls',
    ],
    ['openai-responses', [says('hi'), closed('completed')], 'end'],
    ['openai-responses', [says('hi'), closed('incomplete', 'max_output_tokens')], 'length'],
    ['openai-responses', [says('hi'), closed('incomplete', 'content_filter')], 'refused'],
    ['openai-responses', [{ type: 'response.refusal.delta', delta: 'No.' }, closed('completed')], 'refused'],
    ['gemini', [candidate([{ text: 'hi' }], 'STOP')], 'end'],
    ['gemini', [candidate([{ text: 'hi' }], 'MAX_TOKENS')], 'length'],
    ['gemini', [candidate([], 'SAFETY')], 'refused'],
    ['gemini', [{ promptFeedback: { blockReason: 'SAFETY' } }], 'refused'],
    ['gemini', [candidate([{ functionCall: { name: 'x', args: {} } }], 'STOP')], 'tool_calls'],
  ])('%s, case %#', async (format, events, expected) => {
    const { end, thrown } = await stream(format, ...events);
    expect(thrown).toBeUndefined();
    expect(end?.stopReason).toBe(expected);
  });

  it.each<[HttpFormat, JsonObject, object]>([
    ['openai', { error: { message: 'too much', code: 429 } }, { status: 429, retriable: true }],
    ['openai', { error: 'down' }, { retriable: false }],
    [
      'openai-responses',
      { type: 'error', code: 'server_error', message: 'oh' },
      { status: 500, retriable: true },
    ],
    [
      'openai-responses',
      { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'oh' } } },
      { status: 429, retriable: true },
    ],
    [
      'gemini',
      { error: { code: 503, message: 'oh', status: 'UNAVAILABLE' } },
      { status: 503, retriable: true },
    ],
    ['gemini', candidate([], 'MALFORMED_FUNCTION_CALL'), { retriable: true }],
  ])('is a failure where the provider says so: %s, case %#', async (format, event, expected) => {
    const { end, thrown } = await stream(format, event);
    expect(end).toBeUndefined();
    expect(thrown).toMatchObject(expected);
  });
});

describe('a call that cannot be read', () => {
  it.each<[HttpFormat, readonly JsonObject[]]>([
    ['anthropic', [begin(0, TOOL_USE), json(0, '{"path":'), stop(0), stopFor('tool_use')]],
    [
      'openai',
      [fragment({ id: 'a', function: { name: 'read_file', arguments: '{"path":' } }), chunk({}, 'length')],
    ],
    [
      'openai-responses',
      [
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { type: 'function_call', call_id: 'a', name: 'read_file', arguments: '{"path":' },
        },
        closed('incomplete', 'max_output_tokens'),
      ],
    ],
    ['gemini', [candidate([{ functionCall: { id: 'a', name: 'read_file', args: [1] } }], 'STOP')]],
  ])('is in the message of %s with empty arguments, and is answered', async (format, events) => {
    const { end, events: given } = await stream(format, ...events);
    expect(given.filter(({ type }) => type === 'call')).toEqual([]);
    expect(given.find(({ type }) => type === 'call_error')).toMatchObject({
      error: { index: 0, id: 'a', name: 'read_file' },
    });
    expect(end).toMatchObject({ stopReason: 'tool_calls', message: { calls: [], errors: [{ id: 'a' }] } });
    const native = JSON.stringify(end?.message.native.messages);
    expect(native).toMatch(/\{\}/);
    expect(native).not.toContain('path');
    expect(JSON.stringify(end?.answer([]).native.messages)).toMatch(/Cannot read the call of .*read_file/);
  });

  it('and one that can are answered in their places', async () => {
    const { end } = await stream(
      'anthropic',
      begin(0, TOOL_USE),
      json(0, '{'),
      stop(0),
      begin(1, { ...TOOL_USE, id: 'b' }),
      stop(1),
      begin(2, { ...TOOL_USE, id: 'c' }),
      json(2, '['),
      stop(2),
      stopFor('tool_use'),
    );
    const [message] = end?.answer([succeeds('b', 'read_file', 'ok')]).native.messages ?? [];
    expect(message).toMatchObject({
      role: 'user',
      content: [
        { tool_use_id: 'a', is_error: true },
        { tool_use_id: 'b', content: 'ok' },
        { tool_use_id: 'c', is_error: true },
      ],
    });
    expect(() => end?.answer([])).toThrow('has no result');
  });
});

describe('calls without an id', () => {
  it('of a server for OpenAI’s protocol get one, in the message and in the answer', async () => {
    const { end, calls } = await stream(
      'openai',
      fragment({ index: 0, function: { name: 'read_file', arguments: '{"path":"a"}' } }),
      fragment({ index: 1, function: { name: 'read_file', arguments: '{"path":"b"}' } }),
      chunk({}, 'tool_calls'),
    );
    expect(calls).toMatchObject([
      { id: 'call_0', madeUp: true, turn: 'c' },
      { id: 'call_1', madeUp: true, turn: 'c' },
    ]);
    expect(end?.message.native.messages).toMatchObject([
      { tool_calls: [{ id: 'call_0' }, { id: 'call_1' }] },
    ]);
    const results = calls.map(({ id, name }) => succeeds(id, name, id));
    expect(end?.answer(results).native.messages).toMatchObject([
      { tool_call_id: 'call_0' },
      { tool_call_id: 'call_1' },
    ]);
  });

  it('of Gemini stay without one', async () => {
    const part = { functionCall: { name: 'read_file', args: { path: 'a' } }, thoughtSignature: 's' };
    const { end, calls } = await stream('gemini', candidate([part], 'STOP'));
    expect(end?.message.native.messages).toEqual([{ role: 'model', parts: [part] }]);
    const message = end?.answer(calls.map(({ id, name }) => succeeds(id, name, 'ok')));
    expect(JSON.stringify(message?.native.messages)).not.toContain('"id"');
  });

  it('as old servers call are answered as they want it', async () => {
    const legacy = (piece: JsonObject) => chunk({ function_call: piece });
    const { end, calls } = await stream(
      'openai',
      legacy({ name: 'read_file', arguments: '{"path":' }),
      legacy({ arguments: '"a"}' }),
      chunk({}, 'function_call'),
    );
    expect(calls).toMatchObject([{ name: 'read_file', args: { path: 'a' } }]);
    expect(end?.message.native.messages).toEqual([
      { role: 'assistant', content: '', function_call: { name: 'read_file', arguments: '{"path":"a"}' } },
    ]);
    const results = calls.map(({ id, name }) => succeeds(id, name, 'ok'));
    const answered = [{ role: 'function', name: 'read_file', content: 'ok' }];
    expect(end?.answer(results).native.messages).toEqual(answered);
    // A message kept as JSON is answered in the same way.
    const kept = JSON.parse(JSON.stringify(end?.message));
    expect(answerMessage(kept, results).native.messages).toEqual(answered);
  });
});

describe('a message', () => {
  it('holds what a newer provider adds, and no text without a visible character', async () => {
    const { end } = await stream(
      'anthropic',
      begin(0, { type: 'text', text: ' ' }),
      stop(0),
      begin(1, { type: 'redacted_thinking', data: 'x' }),
      stop(1),
      begin(2, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      json(2, '{"query":"x"}'),
      stop(2),
      begin(3, { type: 'hologram', beam: 1 }),
      stop(3),
      stopFor('end_turn'),
    );
    expect(end?.message.native.messages).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'redacted_thinking', data: 'x' },
          { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } },
          { type: 'hologram', beam: 1 },
        ],
      },
    ]);
  });

  it('that the provider has interrupted has no calls, because they are not answered', async () => {
    const text = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I will' } };
    const { end, calls } = await stream(
      'anthropic',
      begin(0, { type: 'text', text: '' }),
      text,
      stop(0),
      begin(1, TOOL_USE),
      json(1, '{"path":"a"}'),
      stop(1),
      stopFor('refusal'),
    );
    expect(calls.length).toBe(1);
    expect(end).toMatchObject({
      stopReason: 'refused',
      message: {
        text: 'I will',
        calls: [],
        native: { messages: [{ role: 'assistant', content: [{ type: 'text', text: 'I will' }] }] },
      },
    });
  });

  it('without anything in it is left out of the next request', async () => {
    for (const [format, event] of [
      ['anthropic', stopFor('end_turn')],
      ['openai', chunk({}, 'stop')],
      ['openai-responses', closed('completed')],
      ['gemini', candidate([], 'STOP')],
    ] as const) {
      const { end } = await stream(format, event);
      expect(end?.message).toMatchObject({ text: '', native: { messages: [] } });
    }
  });

  it('of OpenAI Responses leaves out reasoning that only the provider’s store would know', async () => {
    const reasoning = { type: 'reasoning', id: 'rs', summary: [] };
    const done = { type: 'response.output_item.done', output_index: 0, item: reasoning };
    expect(
      (await stream('openai-responses', done, closed('completed'))).end?.message.native.messages,
    ).toEqual([]);
  });
});

describe('a whole response, from a server that does not stream,', () => {
  const whole: Readonly<Record<HttpFormat, (native: readonly JsonObject[]) => unknown>> = {
    anthropic: ([message]) => ({
      id: 'msg_1',
      type: 'message',
      ...message,
      stop_reason: 'tool_use',
      usage: { input_tokens: 30, output_tokens: 9 },
    }),
    openai: ([message = {}]) => ({
      id: 'chatcmpl_1',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 30, completion_tokens: 9 },
    }),
    'openai-responses': (output) => ({
      id: 'resp_1',
      status: 'completed',
      output,
      usage: { input_tokens: 30, output_tokens: 9 },
    }),
    gemini: ([content = {}]) => [
      {
        responseId: 'gem_1',
        candidates: [{ content, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 9 },
      },
    ],
  };

  it.each(RECORDINGS.map((recording) => [recording.format, recording] as const))(
    'of %s is the same message',
    async (_, { format, native, id }) => {
      const headers = { 'content-type': 'application/json; charset=utf-8' };
      const world = playWorld({ headers, chunks: [JSON.stringify(whole[format](native))] });
      const model = createModel(format, { model: 'm', apiKey: 'k', timeoutMs: LIMIT_MS }, world);
      const { text, calls, end, events, thrown } = await ask(model, 'go');
      expect(thrown).toBeUndefined();
      expect([text, calls]).toEqual([TEXT, CALLS]);
      expect(events.at(-2)).toEqual(USAGE);
      expect(end).toMatchObject({ stopReason: 'tool_calls', message: { id, text: TEXT, calls: CALLS } });
      expect(end?.message.native.messages).toEqual(native);
    },
  );
});
