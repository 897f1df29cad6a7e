import { fork } from 'node:child_process';
import { once } from 'node:events';
import Anthropic from '@anthropic-ai/sdk';
import { createParser } from 'eventsource-parser';
import OpenAI from 'openai';
import type { Scale } from './contents.js';
import { type Contender, interleave } from './measure.js';
import { type ProviderName, type RecordedStream, STREAMS } from './recorded-streams.js';
import { type Row, toRow } from './row.js';

const NAME: string = 'toolexec/models';
const models: typeof import('../src/models.js') = await import(NAME);

/**
 * A streamed answer of one megabyte, from a server on this machine to the whole message, in milliseconds per
 * megabyte; 1,000 divided by it is MB/s. Beside it the necessary minimum (fetch, events, `JSON.parse`), and
 * the SDKs that also build messages.
 */
export async function measureStreams(scale: Scale): Promise<readonly Row[]> {
  const server = fork(new URL('./stream-server.ts', import.meta.url), { execArgv: process.execArgv });
  try {
    const [port]: unknown[] = await once(server, 'message');
    const rounds = scale === 'quick' ? { rounds: 1, warmUps: 1 } : { rounds: 15, warmUps: 4 };
    const rows: Row[] = [];
    for (const stream of STREAMS) {
      const url = `http://127.0.0.1:${String(port)}/${stream.name}`;
      const { ours, floor, theirs } = await interleave(
        {
          ours: contender(stream, () => readOurs(stream, url)),
          floor: contender(stream, () => readBare(`${url}/`)),
          theirs: contender(stream, () => (SDKS[stream.provider] ?? readBareSdk)(url)),
        },
        rounds,
      );
      const what = `${stream.provider}: ${stream.what}`;
      rows.push(toRow(what, ours, ['fetch, events, JSON.parse', floor], { ...REPORT, goal: GOAL }));
      if (stream.provider in SDKS)
        rows.push(toRow(`${what}, beside an SDK`, ours, ['the SDK', theirs], REPORT));
    }
    return rows;
  } finally {
    server.disconnect();
  }
}

const REPORT = { computing: true, unit: 'ms' } as const;
const GOAL = { of: 'ratio', atMost: 2.5 } as const;

function contender({ bytes }: RecordedStream, read: () => Promise<number>): Contender {
  // Microseconds a thousandth of a megabyte: milliseconds a megabyte.
  return { units: bytes / 1_000, run: read };
}

const PATHS: Readonly<Record<ProviderName, string>> = {
  anthropic: '',
  openai: '/v1',
  openaiResponses: '/v1',
  gemini: '',
};

async function readOurs({ provider, characters, what }: RecordedStream, url: string): Promise<number> {
  const model = models[provider]({ model: 'm', apiKey: 'k', baseUrl: `${url}${PATHS[provider]}` });
  const { signal } = new AbortController();
  let length = 0;
  for await (const event of model.stream(
    { messages: [{ role: 'user', content: 'go' }], tools: [] },
    { signal },
  )) {
    if (event.type === 'text') length += event.text.length;
    if (event.type === 'call') length += String(event.call.args.content).length;
  }
  if (length !== characters) throw new Error(`${provider}, ${what}: ${length} of ${characters} characters`);
  return length;
}

async function readBare(url: string): Promise<number> {
  const { body } = await fetch(url, { method: 'POST', body: '{}' });
  const decoder = new TextDecoder();
  let events = 0;
  const parser = createParser({
    onEvent: ({ data }) => {
      JSON.parse(data);
      events += 1;
    },
  });
  for await (const bytes of body ?? []) parser.feed(decoder.decode(bytes, { stream: true }));
  return events;
}

const messages = [{ role: 'user' as const, content: 'go' }];

/** Those whose message can be put together without our help. */
const SDKS: Readonly<Partial<Record<ProviderName, (url: string) => Promise<number>>>> = {
  async anthropic(baseURL) {
    const client = new Anthropic({ apiKey: 'k', baseURL });
    const stream = client.messages.stream({ model: 'm', max_tokens: 9, messages });
    return (await stream.finalMessage()).content.length;
  },
  async openai(url) {
    const client = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1` });
    const stream = client.chat.completions.stream({ model: 'm', messages });
    return (await stream.finalChatCompletion()).choices.length;
  },
};

/** In place of an SDK, if the provider has none. */
function readBareSdk(url: string): Promise<number> {
  return readBare(`${url}/`);
}
