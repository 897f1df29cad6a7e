import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelError } from '../../errors/model-error.js';
import { anthropic } from '../anthropic/model.js';
import { gemini } from '../gemini/model.js';
import type { Model } from '../model.js';
import { openai } from '../openai/model.js';
import { openaiResponses } from '../openai-responses/model.js';
import { ask, says, succeeds } from './fixtures/ask.js';
import type { ModelOptions } from './model-options.js';

const mock = new LLMock({ port: 0 });

const PROVIDERS: readonly [name: string, make: (options?: Partial<ModelOptions>) => Model][] = [
  ['anthropic', (more) => anthropic({ model: 'claude-sonnet-4-5', apiKey: 'k', baseUrl: mock.url, ...more })],
  ['openai', (more) => openai({ model: 'gpt-4o', apiKey: 'k', baseUrl: `${mock.url}/v1`, ...more })],
  [
    'openaiResponses',
    (more) => openaiResponses({ model: 'gpt-4o', apiKey: 'k', baseUrl: `${mock.url}/v1`, ...more }),
  ],
  ['gemini', (more) => gemini({ model: 'gemini-2.5-pro', apiKey: 'k', baseUrl: mock.url, ...more })],
];

beforeAll(async () => {
  mock.on(
    { userMessage: 'read both', hasToolResult: false },
    {
      content: 'I will look.',
      toolCalls: [
        { name: 'read_file', arguments: '{"path":"a.txt"}' },
        { name: 'read_file', arguments: '{"path":"é😀.txt"}' },
      ],
    },
    { chunkSize: 5 },
  );
  mock.on({ userMessage: 'read both', hasToolResult: true }, { content: 'Both are read.' });
  mock.onMessage('hello', { content: 'Grüße, 世界 😀.' }, { chunkSize: 1 });
  mock.onMessage('malformed', { toolCalls: [{ name: 'read_file', arguments: '{"path":' }] });
  mock.onMessage('cut', { content: 'This is cut off somewhere.' }, { chunkSize: 4, truncateAfterChunks: 3 });
  mock.onMessage('busy', { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429 });
  mock.onMessage('broken', { error: { message: 'out of order', type: 'api_error' }, status: 500 });
  mock.onMessage('who are you', { error: { message: 'bad key', type: 'authentication_error' }, status: 401 });
  await mock.start();
});
afterAll(() => mock.stop());

describe.each(PROVIDERS)('%s', (name, make) => {
  it('streams a text in pieces', async () => {
    const { events, text, end, thrown } = await ask(make(), 'hello');
    expect(thrown).toBeUndefined();
    expect(text).toBe('Grüße, 世界 😀.');
    expect(events.filter(({ type }) => type === 'text').length).toBeGreaterThan(3);
    expect(end).toMatchObject({ stopReason: 'end', message: { role: 'assistant', text, calls: [] } });
  });

  it('streams parallel calls, and continues when they are answered', async () => {
    const model = make();
    const first = await ask(model, 'read both');
    expect(first.thrown).toBeUndefined();
    expect(first.calls.map(({ name, args }) => [name, args])).toEqual([
      ['read_file', { path: 'a.txt' }],
      ['read_file', { path: 'é😀.txt' }],
    ]);
    expect(first.end).toMatchObject({ stopReason: 'tool_calls' });
    if (first.end === undefined) return;
    const { message, answer } = first.end;
    const results = first.calls.map(({ id, name }) => succeeds(id, name, `result of ${id}`));
    const messages = [says('read both'), message, answer([...results].reverse())];
    const second = await ask(model, { messages });
    expect(second.thrown).toBeUndefined();
    expect(second.text).toBe('Both are read.');
    const sent = JSON.stringify(mock.getLastRequest()?.body);
    for (const { id } of first.calls) expect(sent).toContain(`result of ${id}`);
  });

  // The mock corrects them for Anthropic, and Gemini's format cannot contain them.
  it.runIf(name.startsWith('openai'))('gives a call whose arguments are malformed as an error', async () => {
    const { calls, events, end, thrown } = await ask(make(), 'malformed');
    expect(thrown).toBeUndefined();
    expect(calls).toEqual([]);
    expect(events.find(({ type }) => type === 'call_error')).toMatchObject({ error: { name: 'read_file' } });
    expect(end).toMatchObject({ stopReason: 'tool_calls', message: { errors: [{ index: 0 }] } });
    expect(JSON.stringify(end?.answer([]).native)).toContain('Error: Cannot read the call');
  });

  it('throws when the stream is cut, after what has come', async () => {
    const { text, end, thrown } = await ask(make({ retries: 0 }), 'cut');
    expect('This is cut off somewhere.'.startsWith(text)).toBe(true);
    expect(end).toBeUndefined();
    expect(thrown).toBeInstanceOf(ModelError);
    expect(thrown).toMatchObject({ message: expect.stringMatching(/cut|connection/) });
  });

  it.each([
    ['busy', 429, 'slow down', true],
    ['broken', 500, 'out of order', true],
    ['who are you', 401, 'bad key', false],
  ])('throws what the provider says: %s', async (word, status, said, retriable) => {
    const { events, thrown } = await ask(make({ retries: 0 }), word);
    expect(events).toEqual([]);
    expect(thrown).toMatchObject({ status, retriable, message: expect.stringContaining(said) });
  });
});
