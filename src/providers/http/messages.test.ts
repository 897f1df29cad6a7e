import { describe, expect, it } from 'vitest';
import type { ContentBlock } from '../../contract/call.js';
import type { AssistantMessage, ModelFormat, ModelMessage } from '../model.js';
import { readCalls } from '../read-calls.js';
import { createModel } from './create-model.js';
import { ask, says, succeeds } from './fixtures/ask.js';
import { LIMIT_MS, playWorld } from './fixtures/played-world.js';
import { CALLS, RECORDINGS, TEXT, toWire } from './fixtures/recordings.js';
import { answerMessage, toNativeMessages } from './messages.js';

const FORMATS: readonly ModelFormat[] = ['anthropic', 'gemini', 'native', 'openai', 'openai-responses'];

/** The same conversation, as the model of each provider leaves it. */
const conversations = await Promise.all(
  RECORDINGS.map(async (recording) => {
    const world = playWorld({ chunks: [toWire(recording)] });
    const model = createModel(recording.format, { model: 'm', apiKey: 'k', timeoutMs: LIMIT_MS }, world);
    const { end } = await ask(model, 'go');
    if (end === undefined) throw new Error('no end');
    const results = CALLS.map(({ id, name }) => succeeds(id, name, `output of ${name}`));
    const messages: readonly ModelMessage[] = [says('go'), end.message, end.answer(results)];
    return [recording.format, messages, recording] as const;
  }),
);

describe.each(conversations)('a conversation with a model of %s', (format, messages, recording) => {
  it('goes back to it as it came, also from JSON', () => {
    const native = toNativeMessages(format, messages);
    expect(native.slice(1, 1 + recording.native.length)).toEqual(recording.native);
    expect(toNativeMessages(format, JSON.parse(JSON.stringify(messages)))).toEqual(native);
  });

  it.each(FORMATS.filter((other) => other !== format))('can go on with one of %s', (other) => {
    const native = toNativeMessages(other, messages);
    const text = JSON.stringify(native);
    expect(text).toContain(JSON.stringify(TEXT).slice(1, -1));
    for (const { id, name } of CALLS) {
      expect(text).toContain(`output of ${name}`);
      // Once in the call, and once in its answer.
      expect(text.split(`"${id}"`).length).toBe(3);
    }
    const asked = other === 'openai-responses' ? native.slice(1, 4) : native[1];
    if (other !== 'native') expect(readCalls(asked, { format: other }).calls).toEqual(CALLS);
  });
});

it('ids that were made up, or that a provider refuses, become ids that every provider takes, each its own', () => {
  const asked = (id: string, madeUp: boolean): AssistantMessage => ({
    role: 'assistant',
    text: '',
    calls: [{ id, name: 'read_file', args: {}, ...(madeUp ? { madeUp: true } : {}) }],
    errors: [{ index: 1, id: 'call_1', name: 'bash', message: 'Cannot read it.' }],
    native: { format: 'gemini', messages: [] },
  });
  const turns = [asked('call_0', true), asked('call_0', true), asked('functions.read:0', false)];
  const messages = turns.flatMap((message) => [
    message,
    answerMessage(
      message,
      message.calls.map(({ id, name }) => succeeds(id, name, 'ok')),
    ),
  ]);
  const native = toNativeMessages('anthropic', messages);
  const idsIn = (key: string) =>
    [...JSON.stringify(native).matchAll(new RegExp(`"${key}":"([^"]*)"`, 'g'))].map(([, id]) => id);
  const ids = idsIn('id');
  expect(ids).toEqual(idsIn('tool_use_id'));
  expect(new Set(ids).size).toBe(6);
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
});

it('content of the user that a provider does not accept is described in words', () => {
  const data = new TextEncoder().encode('bytes');
  const content: readonly ContentBlock[] = [
    { type: 'text', text: 'Look:' },
    { type: 'image', mediaType: 'image/png', data },
    { type: 'audio', mediaType: 'audio/wav', data },
    { type: 'resource', uri: 'file:///a.pdf', mediaType: 'application/pdf', data },
    { type: 'resource_link', uri: 'https://a.example/', name: 'a' },
  ];
  const kinds = (format: ModelFormat) => {
    const [message] = toNativeMessages(format, [{ role: 'user', content }]);
    const parts = (message?.content ?? message?.parts) as readonly { type?: string }[];
    return parts.map((part) => part.type ?? Object.keys(part)[0]);
  };
  expect(kinds('anthropic')).toEqual(['text', 'image', 'text', 'document', 'text']);
  expect(kinds('openai')).toEqual(['text', 'image_url', 'input_audio', 'file', 'text']);
  expect(kinds('openai-responses')).toEqual([
    'input_text',
    'input_image',
    'input_text',
    'input_file',
    'input_text',
  ]);
  expect(kinds('gemini')).toEqual(['text', 'inlineData', 'inlineData', 'inlineData', 'text']);
  expect(kinds('native')).toEqual(['text', 'image', 'audio', 'resource', 'resource_link']);
});
