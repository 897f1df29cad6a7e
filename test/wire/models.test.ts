import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { createModel } from '../../src/providers/http/create-model.js';
import { ask } from '../../src/providers/http/fixtures/ask.js';
import { LIMIT_MS, playWorld } from '../../src/providers/http/fixtures/played-world.js';
import { RECORDINGS, type Recording, toWire } from '../../src/providers/http/fixtures/recordings.js';

const messages = [{ role: 'user' as const, content: 'go' }];

/** The provider's own SDK, reading the same bytes. */
const SDKS: Readonly<Record<string, (fetch: () => Promise<Response>) => Promise<unknown>>> = {
  async anthropic(fetch) {
    const client = new Anthropic({ apiKey: 'k', fetch });
    const stream = client.messages.stream({ model: 'm', max_tokens: 9, messages });
    return (await stream.finalMessage()).content;
  },
  async openai(fetch) {
    const client = new OpenAI({ apiKey: 'k', fetch });
    const stream = client.chat.completions.stream({ model: 'm', messages });
    const { content, tool_calls: calls } = (await stream.finalChatCompletion()).choices[0]?.message ?? {};
    return { content, tool_calls: calls };
  },
  async openaiResponses(fetch) {
    const client = new OpenAI({ apiKey: 'k', fetch });
    return (await client.responses.stream({ model: 'm', input: 'go' }).finalResponse()).output;
  },
};

function messageIn({ format }: Recording, native: readonly object[]): unknown {
  const [message] = native as readonly { content?: unknown; tool_calls?: unknown }[];
  if (format === 'anthropic') return message?.content;
  if (format === 'openai') return { content: message?.content, tool_calls: message?.tool_calls };
  return native;
}

describe('a message that a model streams', () => {
  it.each(
    RECORDINGS.filter(({ format }) => format in SDKS).map(
      (recording) => [recording.format, recording] as const,
    ),
  )('of %s goes back as the provider’s SDK puts it together', async (name, recording) => {
    const wire = toWire(recording);
    const headers = { 'content-type': 'text/event-stream' };
    const theirs = await SDKS[name]?.(async () => new Response(wire, { headers }));
    const world = playWorld({ chunks: [wire] });
    const model = createModel(recording.format, { model: 'm', apiKey: 'k', timeoutMs: LIMIT_MS }, world);
    const { end } = await ask(model, 'go');
    const ours = messageIn(recording, end?.message.native.messages ?? []);
    // Fields that the SDKs add (parsed arguments, the count of a list) are not part of the message.
    expect(theirs).toMatchObject(ours as object);
  });
});
