import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../contract/json.js';
import type { ModelEnd } from '../contract/model.js';
import { anthropicApi } from './anthropic/anthropic.js';
import { createModel } from './create-model.js';
import { type Asked, ask, succeeds, TOOLS } from './fixtures/ask.js';
import { LIMIT_MS, playWorld } from './fixtures/played-world.js';
import { CALLS, RECORDINGS, TEXT, toWire, USAGE } from './fixtures/recordings.js';
import { geminiApi } from './gemini/gemini.js';
import { answerMessage } from './messages.js';
import { openaiApi } from './openai/openai.js';
import { openaiResponsesApi } from './openai-responses/openai-responses.js';
import type { ProviderApi } from './provider-api.js';

async function stream(api: ProviderApi, ...events: readonly JsonObject[]): Promise<Asked> {
  const options = { model: 'm', apiKey: 'k', retries: 0, timeoutMs: LIMIT_MS };
  return ask(createModel(api, options, playWorld({ chunks: [toWire({ api, events })] })), { tools: TOOLS });
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
  it.each<[ProviderApi, readonly JsonObject[], ModelEnd['stopReason']]>([
    [anthropicApi, [stopFor('end_turn')], 'end'],
    [anthropicApi, [stopFor('stop_sequence')], 'end'],
    [anthropicApi, [stopFor('max_tokens')], 'length'],
    [anthropicApi, [stopFor('model_context_window_exceeded')], 'length'],
    [anthropicApi, [stopFor('refusal')], 'refused'],
    [anthropicApi, [stopFor('tool_use')], 'end'],
    [anthropicApi, [begin(0, TOOL_USE), stop(0), stopFor('end_turn')], 'tool_calls'],
    [anthropicApi, [begin(0, TOOL_USE), json(0, '{'), stop(0), stopFor('max_tokens')], 'tool_calls'],
    [anthropicApi, [begin(0, TOOL_USE), stop(0), stopFor('refusal')], 'refused'],
    [openaiApi, [chunk({ content: 'hi' }, 'stop')], 'end'],
    [openaiApi, [chunk({ content: 'hi' }, 'length')], 'length'],
    [openaiApi, [chunk({ content: 'hi' }, 'content_filter')], 'refused'],
    [openaiApi, [chunk({ refusal: 'I cannot.' }), chunk({}, 'stop')], 'refused'],
    [
      openaiApi,
      [fragment({ id: 'a', function: { name: 'x', arguments: '{}' } }), chunk({}, 'stop')],
      'tool_calls',
    ],
    [openaiResponsesApi, [says('hi'), closed('completed')], 'end'],
    [openaiResponsesApi, [says('hi'), closed('incomplete', 'max_output_tokens')], 'length'],
    [openaiResponsesApi, [says('hi'), closed('incomplete', 'content_filter')], 'refused'],
    [openaiResponsesApi, [{ type: 'response.refusal.delta', delta: 'No.' }, closed('completed')], 'refused'],
    [geminiApi, [candidate([{ text: 'hi' }], 'STOP')], 'end'],
    [geminiApi, [candidate([{ text: 'hi' }], 'MAX_TOKENS')], 'length'],
    [geminiApi, [candidate([], 'SAFETY')], 'refused'],
    [geminiApi, [{ promptFeedback: { blockReason: 'SAFETY' } }], 'refused'],
    [geminiApi, [candidate([{ functionCall: { name: 'x', args: {} } }], 'STOP')], 'tool_calls'],
  ])('$factory, case %#', async (api, events, expected) => {
    const { end, thrown } = await stream(api, ...events);
    expect(thrown).toBeUndefined();
    expect(end?.stopReason).toBe(expected);
  });

  it.each<[ProviderApi, JsonObject, object]>([
    [openaiApi, { error: { message: 'too much', code: 429 } }, { status: 429, retriable: true }],
    [openaiApi, { error: 'down' }, { retriable: false }],
    [
      openaiResponsesApi,
      { type: 'error', code: 'server_error', message: 'oh' },
      { status: 500, retriable: true },
    ],
    [
      openaiResponsesApi,
      { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'oh' } } },
      { status: 429, retriable: true },
    ],
    [
      geminiApi,
      { error: { code: 503, message: 'oh', status: 'UNAVAILABLE' } },
      { status: 503, retriable: true },
    ],
    [geminiApi, candidate([], 'MALFORMED_FUNCTION_CALL'), { retriable: true }],
  ])('is a failure where the provider says so: $factory, case %#', async (api, event, expected) => {
    const { end, thrown } = await stream(api, event);
    expect(end).toBeUndefined();
    expect(thrown).toMatchObject(expected);
  });
});

describe('a call that cannot be read', () => {
  it.each<[ProviderApi, readonly JsonObject[]]>([
    [anthropicApi, [begin(0, TOOL_USE), json(0, '{"path":'), stop(0), stopFor('tool_use')]],
    [
      openaiApi,
      [fragment({ id: 'a', function: { name: 'read_file', arguments: '{"path":' } }), chunk({}, 'length')],
    ],
    [
      openaiResponsesApi,
      [
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { type: 'function_call', call_id: 'a', name: 'read_file', arguments: '{"path":' },
        },
        closed('incomplete', 'max_output_tokens'),
      ],
    ],
    [geminiApi, [candidate([{ functionCall: { id: 'a', name: 'read_file', args: [1] } }], 'STOP')]],
  ])('stands in the message of $factory with empty arguments, and is answered', async (api, events) => {
    const { end, events: given } = await stream(api, ...events);
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
      anthropicApi,
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
      openaiApi,
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
    const { end, calls } = await stream(geminiApi, candidate([part], 'STOP'));
    expect(end?.message.native.messages).toEqual([{ role: 'model', parts: [part] }]);
    const message = end?.answer(calls.map(({ id, name }) => succeeds(id, name, 'ok')));
    expect(JSON.stringify(message?.native.messages)).not.toContain('"id"');
  });

  it('as old servers call are answered as they want it', async () => {
    const legacy = (piece: JsonObject) => chunk({ function_call: piece });
    const { end, calls } = await stream(
      openaiApi,
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
    // What was kept as JSON is answered in the same way.
    const kept = JSON.parse(JSON.stringify(end?.message));
    expect(answerMessage(kept, results).native.messages).toEqual(answered);
  });
});

describe('a message', () => {
  it('holds what a newer provider adds, and no text without a visible character', async () => {
    const { end } = await stream(
      anthropicApi,
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

  it('that the provider has broken off holds no calls, since they are not answered', async () => {
    const text = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I will' } };
    const { end, calls } = await stream(
      anthropicApi,
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
    for (const [api, event] of [
      [anthropicApi, stopFor('end_turn')],
      [openaiApi, chunk({}, 'stop')],
      [openaiResponsesApi, closed('completed')],
      [geminiApi, candidate([], 'STOP')],
    ] as const) {
      const { end } = await stream(api, event);
      expect(end?.message).toMatchObject({ text: '', native: { messages: [] } });
    }
  });

  it('of OpenAI Responses leaves out reasoning that only the provider’s store would know', async () => {
    const reasoning = { type: 'reasoning', id: 'rs', summary: [] };
    const done = { type: 'response.output_item.done', output_index: 0, item: reasoning };
    expect(
      (await stream(openaiResponsesApi, done, closed('completed'))).end?.message.native.messages,
    ).toEqual([]);
  });
});

describe('a whole response, from a server that does not stream,', () => {
  const whole: Readonly<
    Record<string, (native: readonly JsonObject[]) => JsonObject | readonly JsonObject[]>
  > = {
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
    openaiResponses: (output) => ({
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

  it.each(RECORDINGS.map((recording) => [recording.api.factory, recording] as const))(
    'of %s is the same message',
    async (name, { api, native, id }) => {
      const headers = { 'content-type': 'application/json; charset=utf-8' };
      const world = playWorld({ headers, chunks: [JSON.stringify(whole[name]?.(native))] });
      const model = createModel(api, { model: 'm', apiKey: 'k', timeoutMs: LIMIT_MS }, world);
      const { text, calls, end, events, thrown } = await ask(model, 'go');
      expect(thrown).toBeUndefined();
      expect([text, calls]).toEqual([TEXT, CALLS]);
      expect(events.at(-2)).toEqual(USAGE);
      expect(end).toMatchObject({ stopReason: 'tool_calls', message: { id, text: TEXT, calls: CALLS } });
      expect(end?.message.native.messages).toEqual(native);
    },
  );
});
