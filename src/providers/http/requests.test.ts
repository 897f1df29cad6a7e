import { describe, expect, it } from 'vitest';
import { ModelError } from '../../errors/model-error.js';
import { isToolError } from '../../errors/tool-error.js';
import type { ModelMessage } from '../model.js';
import type { HttpFormat } from '../registry.js';
import { createModel } from './create-model.js';
import { ask, says, TOOLS } from './fixtures/ask.js';
import {
  LIMIT_MS,
  type PlayedAnswer,
  type PlayedWorld,
  playWorld,
  silence,
} from './fixtures/played-world.js';
import { RECORDINGS, TEXT, toWire } from './fixtures/recordings.js';
import type { ModelOptions } from './model-options.js';

const NEVER = new AbortController().signal;
const KEY = 'sk-secret-0123456789';
const options = { model: 'm', apiKey: KEY, timeoutMs: LIMIT_MS };
const whole = (format: HttpFormat): PlayedAnswer => ({
  chunks: RECORDINGS.filter((recording) => recording.format === format).map((recording) => toWire(recording)),
});
const refusal = (status: number, headers = {}, body = '{"error":{"message":"no"}}'): PlayedAnswer => ({
  status,
  headers,
  chunks: [body],
});
const askAnthropic = (world: PlayedWorld, more: Partial<ModelOptions> = {}) =>
  ask(createModel('anthropic', { ...options, ...more }, world), 'go');
const pausesOf = ({ waits }: PlayedWorld) => waits.filter((wait) => wait !== LIMIT_MS);

describe('a request', () => {
  const messages: readonly ModelMessage[] = [says('go')];
  const send = async (format: HttpFormat, more: Partial<ModelOptions> = {}) => {
    const world = playWorld(whole(format));
    await ask(createModel(format, { ...options, ...more }, world), {
      system: 'Be brief.',
      messages,
      tools: TOOLS,
    });
    const [post] = world.posts;
    return { url: post?.url, headers: post?.headers, body: JSON.parse(post?.body ?? '{}') };
  };

  it('to Anthropic has its headers and the most tokens that the model can give', async () => {
    const { url, headers, body } = await send('anthropic', { model: 'claude-sonnet-4-5' });
    expect(url).toBe('https://api.anthropic.com/v1/messages');
    expect(headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01' });
    expect(body).toMatchObject({
      model: 'claude-sonnet-4-5',
      max_tokens: 32_000,
      stream: true,
      system: 'Be brief.',
      messages: [{ role: 'user', content: 'go' }],
      tools: [{ name: 'list_directory' }, { name: 'read_file', input_schema: { type: 'object' } }],
    });
  });

  it('to OpenAI asks for the count of tokens', async () => {
    const { url, headers, body } = await send('openai', { maxTokens: 99 });
    expect(url).toBe('https://api.openai.com/v1/chat/completions');
    expect(headers).toMatchObject({ authorization: `Bearer ${KEY}` });
    expect(body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'go' },
      ],
      max_tokens: 99,
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'list_directory' } }, {}],
    });
  });

  it('to OpenAI Responses keeps nothing there', async () => {
    const { url, body } = await send('openai-responses', { maxTokens: 99 });
    expect(url).toBe('https://api.openai.com/v1/responses');
    expect(body).toMatchObject({
      instructions: 'Be brief.',
      input: [{ role: 'user', content: 'go' }],
      max_output_tokens: 99,
      store: false,
      include: ['reasoning.encrypted_content'],
    });
  });

  it('to Gemini names the model in the address, and the key in a header alone', async () => {
    const { url, headers, body } = await send('gemini', { model: 'gemini-2.5-pro', maxTokens: 99 });
    expect(url).toBe(
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    );
    expect(headers).toMatchObject({ 'x-goog-api-key': KEY });
    expect(body).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'go' }] }],
      generationConfig: { maxOutputTokens: 99 },
    });
  });

  it('goes to another address, with more headers', async () => {
    const headers = { Authorization: 'Bearer own', 'x-more': 'yes' };
    const sent = await send('openai', { baseUrl: 'http://127.0.0.1:8000/v1/?version=2', headers });
    expect(sent.url).toBe('http://127.0.0.1:8000/v1/chat/completions?version=2');
    expect(sent.headers).toMatchObject({ authorization: 'Bearer own', 'x-more': 'yes' });
  });

  it('without tools has no list of them', async () => {
    const world = playWorld(whole('openai'));
    await ask(createModel('openai', options, world), { messages, tools: [] });
    expect(JSON.parse(world.posts[0]?.body ?? '')).not.toHaveProperty('tools');
  });

  it('is sent once more without what the server does not know, and from then on', async () => {
    const refused = refusal(400, {}, '{"error":{"message":"Unknown field: stream_options"}}');
    const renamed = refusal(400, {}, '{"error":{"message":"Use \'max_completion_tokens\' instead."}}');
    const world = playWorld(refused, renamed, whole('openai'));
    const model = createModel('openai', { ...options, maxTokens: 5, retries: 0 }, world);
    expect(await ask(model, 'go')).toMatchObject({ text: TEXT, thrown: undefined });
    await ask(model, 'go');
    expect(world.posts.length).toBe(4);
    const bodies = world.posts.map(({ body }) => JSON.parse(body));
    expect(bodies[0]).toMatchObject({ stream_options: {}, max_tokens: 5 });
    for (const body of bodies.slice(2)) {
      expect(body).toMatchObject({ max_completion_tokens: 5 });
      expect(body).not.toHaveProperty('max_tokens');
      expect(body).not.toHaveProperty('stream_options');
    }
    expect(pausesOf(world)).toEqual([]);
  });
});

describe('a request that fails', () => {
  it.each([408, 429, 500, 502, 529])('with %d is tried again, twice, longer and longer', async (status) => {
    const world = playWorld(refusal(status));
    const { thrown, events } = await askAnthropic(world);
    expect(events).toEqual([]);
    expect(thrown).toMatchObject({ status, retriable: true });
    expect(world.posts.length).toBe(3);
    expect(pausesOf(world)).toEqual([500, 1000]);
  });

  it('is tried again until it succeeds', async () => {
    const world = playWorld(refusal(503), { fails: new TypeError('fetch failed') }, whole('anthropic'));
    expect(await askAnthropic(world)).toMatchObject({ text: TEXT, thrown: undefined });
    expect(world.posts.length).toBe(3);
  });

  it.each([
    ['seconds', { 'retry-after': '3' }, 3000],
    ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, 7000],
    ['milliseconds', { 'retry-after-ms': '1250', 'retry-after': '9' }, 1250],
    ['nothing that can be read', { 'retry-after': 'soon' }, 500],
  ])('waits as long as the server asks, in %s', async (_, headers, expected) => {
    const world = playWorld(refusal(429, headers), whole('anthropic'));
    expect(await askAnthropic(world)).toMatchObject({ text: TEXT });
    expect(pausesOf(world)).toEqual([expected]);
  });

  it('does not wait for an hour', async () => {
    const world = playWorld(refusal(429, { 'retry-after': '3600' }));
    expect(await askAnthropic(world)).toMatchObject({ thrown: { status: 429, retriable: true } });
    expect(world.posts.length).toBe(1);
  });

  it.each([400, 401, 403, 404, 413, 422])('with %d is not tried again', async (status) => {
    const world = playWorld(refusal(status));
    expect(await askAnthropic(world)).toMatchObject({ thrown: { status, retriable: false } });
    expect(world.posts.length).toBe(1);
  });

  it('is not tried again when something of the message has come', async () => {
    const { events } = RECORDINGS[0] ?? { events: [] };
    const start = (count: number) => toWire({ format: 'anthropic', events: events.slice(0, count) });
    const before = playWorld({ chunks: [start(3), new Error('reset')] }, whole('anthropic'));
    expect(await askAnthropic(before)).toMatchObject({ text: TEXT, thrown: undefined });
    const after = playWorld({ chunks: [start(4), new Error('reset')] }, whole('anthropic'));
    expect(await askAnthropic(after)).toMatchObject({ text: '', thrown: { retriable: true } });
    expect([before.posts.length, after.posts.length]).toEqual([2, 1]);
  });

  it('in its stream is what the provider says', async () => {
    const overloaded =
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n';
    const world = playWorld({ chunks: [overloaded] }, whole('anthropic'));
    expect(await askAnthropic(world)).toMatchObject({ text: TEXT });
    const again = playWorld({ chunks: [overloaded] });
    const { thrown } = await askAnthropic(again, { retries: 0 });
    expect(thrown).toMatchObject({ status: 529, message: expect.stringContaining('busy') });
  });

  it.each<[string, PlayedAnswer]>([
    ['no answer', { chunks: [silence] }],
    ['an answer that stops', { chunks: ['event: ping\ndata: {"type":"ping"}\n\n', silence] }],
  ])('by silence ends after timeoutMs: %s', async (_, played) => {
    const { thrown } = await askAnthropic(playWorld(played), { retries: 0 });
    expect(thrown).toMatchObject({ message: expect.stringContaining(`${LIMIT_MS} ms`), retriable: true });
  });

  it('is not silence while the reader is slow', async () => {
    const world = playWorld(whole('anthropic'));
    const model = createModel('anthropic', options, world);
    const running: number[] = [];
    for await (const _ of model.stream({ messages: [says('go')], tools: [] }, { signal: NEVER })) {
      running.push(world.running());
    }
    expect(new Set(running)).toEqual(new Set([0]));
  });

  it.each([
    ['a page', { headers: { 'content-type': 'text/html' }, chunks: ['<h1>Hello</h1>'] }, 'Hello'],
    ['JSON', { headers: { 'content-type': 'application/json' }, chunks: ['{"error":"down"}'] }, 'down'],
    ['another address', { status: 307, headers: { location: 'http://elsewhere/' } }, 'http://elsewhere/'],
    ['no JSON in an event', { chunks: ['data: oops\n\n'] }, 'not a JSON object'],
    ['a status alone', { status: 418 }, '418'],
  ])('with %s in place of a stream says so', async (_, played, said) => {
    const { thrown } = await askAnthropic(playWorld(played), { retries: 0 });
    expect(thrown).toBeInstanceOf(ModelError);
    expect(thrown).toMatchObject({ message: expect.stringContaining(said) });
  });

  it('names the server where that is not the provider itself', async () => {
    const world = playWorld(refusal(404));
    const { thrown } = await ask(
      createModel(
        'openai',
        { model: 'qwen3', baseUrl: 'http://localhost:11434/v1', timeoutMs: LIMIT_MS },
        world,
      ),
      'go',
    );
    expect(String(thrown)).toContain(
      'Cannot get an answer of "qwen3" from localhost:11434 (OpenAI): it answered 404: no.',
    );
  });

  it('never shows the key, whatever the server says', async () => {
    const body = JSON.stringify({ error: { message: `Invalid key ${KEY} in Bearer ${KEY}` } });
    const { thrown } = await askAnthropic(playWorld(refusal(401, {}, body)));
    expect(String(thrown)).toBe(
      'ModelError: Cannot get an answer of "m" from Anthropic: it answered 401: Invalid key [REDACTED] in Bearer [REDACTED]. Check the key (ANTHROPIC_API_KEY).',
    );
    expect(JSON.stringify(Object.values(thrown as object))).not.toContain(KEY);
  });
});

describe('the options of a model', () => {
  const make = (given: object, environment: Record<string, string> = {}, format: HttpFormat = 'anthropic') =>
    createModel(format, given as ModelOptions, { ...playWorld(), environment: () => environment });
  const codeOf = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      return isToolError(error) ? [error.code, error.message] : error;
    }
  };

  it('demand a key, and say where it goes', () => {
    expect(codeOf(() => make({ model: 'm' }))).toEqual([
      'config_invalid',
      'There is no key for Anthropic: set ANTHROPIC_API_KEY, or give the option apiKey.',
    ]);
  });

  it('find key and address in the environment', async () => {
    const environment = { GEMINI_API_KEY: ' from-environment ', GEMINI_BASE_URL: 'http://localhost:1' };
    const world = { ...playWorld(whole('gemini')), environment: () => environment };
    await ask(createModel('gemini', { model: 'm' }, world), 'go');
    expect(world.posts[0]?.url).toMatch(/^http:\/\/localhost:1\/v1beta\/models\/m:/);
    expect(world.posts[0]?.headers).toMatchObject({ 'x-goog-api-key': 'from-environment' });
  });

  it('need no key for an address of one’s own', async () => {
    const world = playWorld(whole('openai'));
    await ask(createModel('openai', { model: 'm', baseUrl: 'http://localhost:11434/v1' }, world), 'go');
    expect(world.posts[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each([
    [{}],
    [{ model: 5 }],
    [{ model: 'm', retries: -1 }],
    [{ model: 'm', timeoutMs: 0 }],
    [{ model: 'm', maxTokens: 1.5 }],
    [{ model: 'm', baseUrl: 'localhost:8000' }],
    [{ model: 'm', baseUrl: 'http://user:pass@host' }],
    [{ model: 'm', headers: { 'a b': 'c' } }],
    [{ model: 'm', headers: { a: 'b\r\nc: d' } }],
    [{ model: 'm', apiKey: 5 }],
    [{ model: 'm', temperature: 1 }],
  ])('are checked: %j', (given) => {
    const [code] = codeOf(() => make({ apiKey: KEY, ...given })) as string[];
    expect(code).toBe('config_invalid');
  });

  it('never show a key in a message', () => {
    for (const apiKey of [`${KEY}\nb`, `a\r\n${KEY}`, `${KEY}\u2028`]) {
      expect(String(codeOf(() => make({ model: 'm', apiKey })))).not.toContain(KEY);
    }
    expect(String(codeOf(() => make({ model: 'm', apiKey: KEY, retries: 'x' })))).not.toContain(KEY);
  });

  it('say how much a known model takes', () => {
    expect(make({ model: 'claude-opus-4-1', apiKey: KEY }).contextTokens).toBe(200_000);
    expect(make({ model: 'mystery', apiKey: KEY })).not.toHaveProperty('contextTokens');
    expect(make({ model: 'mystery', apiKey: KEY, maxTokens: 10 })).toMatchObject({ maxOutputTokens: 10 });
  });
});
