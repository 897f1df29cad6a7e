import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ModelError } from '../../errors/model-error.js';
import { anthropic } from '../anthropic/model.js';
import { ask, says } from './fixtures/ask.js';
import { type RawServer, STREAM_HEAD, serveRaw } from './fixtures/raw-server.js';
import { RECORDINGS, TEXT, toWire } from './fixtures/recordings.js';
import type { ModelOptions } from './model-options.js';

let server: RawServer | undefined;
afterEach(() => server?.stop());

const [recording] = RECORDINGS;
const WIRE = recording === undefined ? '' : toWire(recording);
const START = recording === undefined ? '' : toWire({ ...recording, events: recording.events.slice(0, 9) });

async function connect(answer: (socket: Socket) => void, more: Partial<ModelOptions> = {}) {
  server = await serveRaw(answer);
  return anthropic({ model: 'm', apiKey: 'k', baseUrl: server.url, retries: 0, ...more });
}

const chunked = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

describe('over a real connection, a stream', () => {
  it('is read in chunks of HTTP, and to the end of the connection', async () => {
    const model = await connect((socket) => {
      socket.end(
        `${STREAM_HEAD}transfer-encoding: chunked\r\n\r\n${[...WIRE].map(chunked).join('')}0\r\n\r\n`,
      );
    });
    expect(await ask(model, 'go')).toMatchObject({ text: TEXT, thrown: undefined });
    await server?.stop();
    const open = await connect((socket) => socket.end(`${STREAM_HEAD}\r\n${WIRE}`));
    expect(await ask(open, 'go')).toMatchObject({ text: TEXT, thrown: undefined });
  });

  it('is over when the provider says so, though the connection stays open', async () => {
    const model = await connect((socket) => socket.write(`${STREAM_HEAD}\r\n${WIRE}`));
    expect(await ask(model, 'go')).toMatchObject({ text: TEXT, thrown: undefined });
    await server?.closed();
  });

  it.each([
    ['closed', (socket: Socket) => socket.end(`${STREAM_HEAD}\r\n${START}`)],
    [
      'closed inside a chunk',
      (socket: Socket) => socket.end(`${STREAM_HEAD}transfer-encoding: chunked\r\n\r\nffff\r\n${START}`),
    ],
    [
      'reset',
      (socket: Socket) =>
        socket.write(`${STREAM_HEAD}\r\n${START}`, () => setTimeout(() => socket.resetAndDestroy(), 50)),
    ],
  ])('whose connection is %s throws, after what has come', async (_, cut) => {
    const model = await connect(cut);
    const { text, thrown } = await ask(model, 'go');
    // A reset may overtake the data sent before it.
    expect('Grüße, '.startsWith(text)).toBe(true);
    expect(thrown).toBeInstanceOf(ModelError);
    expect(thrown).toMatchObject({ retriable: true });
  });

  it.each([
    ['before its first byte', ''],
    ['behind its head', `${STREAM_HEAD}\r\n`],
    ['in the middle', `${STREAM_HEAD}\r\n${START}`],
  ])('that is silent %s is given up, and its connection closed', async (_, said) => {
    const model = await connect((socket) => socket.write(said), { timeoutMs: 300 });
    expect(await ask(model, 'go')).toMatchObject({
      thrown: { message: expect.stringContaining('no answer within 300 ms'), retriable: true },
    });
    await server?.closed();
  });

  it.each([
    ['before it begins', ''],
    ['in the middle', `${STREAM_HEAD}\r\n${START}`],
  ])('that is cancelled %s closes its connection', async (_, said) => {
    const controller = new AbortController();
    const model = await connect((socket) => {
      socket.write(said);
      setTimeout(() => controller.abort(new Error('enough')), 100);
    });
    const { thrown } = await ask(model, 'go', controller.signal);
    expect(thrown).toBeInstanceOf(ModelError);
    expect(thrown).toMatchObject({
      retriable: false,
      cause: { message: 'enough' },
      message: expect.stringContaining('was cancelled'),
    });
    await server?.closed();
  });

  it('that was cancelled before sends nothing', async () => {
    const model = await connect((socket) => socket.end());
    const { thrown } = await ask(model, 'go', AbortSignal.abort());
    expect(thrown).toMatchObject({ message: expect.stringContaining('was cancelled') });
    expect(server?.requests).toEqual([]);
  });

  it('that is cancelled while it waits to try again does not wait', async () => {
    const controller = new AbortController();
    const model = await connect(
      (socket) => {
        socket.end('HTTP/1.1 503 Busy\r\nretry-after: 50\r\ncontent-length: 0\r\n\r\n');
        setTimeout(() => controller.abort(), 50);
      },
      { retries: 5 },
    );
    const { thrown } = await ask(model, 'go', controller.signal);
    expect(thrown).toMatchObject({ message: expect.stringContaining('was cancelled') });
    expect(server?.requests.length).toBe(1);
  });

  it('that its reader leaves closes its connection', async () => {
    const model = await connect((socket) => socket.write(`${STREAM_HEAD}\r\n${START}`));
    const signal = new AbortController().signal;
    for await (const event of model.stream({ messages: [says('go')], tools: [] }, { signal })) {
      if (event.type === 'text') break;
    }
    await server?.closed();
  });

  it('without a server is reported, and is tried again', async () => {
    const model = await connect((socket) => socket.end());
    await server?.stop();
    const { thrown } = await ask(model, 'go');
    expect(thrown).toMatchObject({ retriable: true, message: expect.stringContaining('ECONNREFUSED') });
    expect(thrown).not.toHaveProperty('status');
  });

  it('does not follow a redirect, which would take the key along', async () => {
    const model = await connect((socket) => {
      socket.end(`HTTP/1.1 307 Moved\r\nlocation: ${server?.url}/elsewhere\r\ncontent-length: 0\r\n\r\n`);
    });
    expect(await ask(model, 'go')).toMatchObject({ thrown: { status: 307, retriable: false } });
    expect(server?.requests.length).toBe(1);
  });
});
