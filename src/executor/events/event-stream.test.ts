import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolEvent } from '../../contract/executor.js';
import { EventStream } from './event-stream.js';

const named = { callId: 'c', toolName: 't', at: 0 };
const chunk = (text: string, type: 'stdout' | 'stderr' = 'stdout', callId = 'c') =>
  ({ ...named, callId, type, chunk: text }) as const;
const started: ToolEvent = { ...named, type: 'started' };
const completed = { ...named, type: 'completed', result: {} } as unknown as ToolEvent;

async function readAll(stream: EventStream): Promise<ToolEvent[]> {
  const events: ToolEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** Whether a promise is still pending after all immediate work is done. */
async function isPending(promise: void | Promise<void>): Promise<boolean> {
  const tick = new Promise<string>((resolve) => {
    setImmediate(() => resolve('pending'));
  });
  return (await Promise.race([Promise.resolve(promise).then(() => 'done'), tick])) === 'pending';
}

describe('EventStream', () => {
  it('gives a late reader everything, in order', async () => {
    const stream = new EventStream();
    stream.push(started);
    void stream.pushChunk(chunk('a'));
    void stream.pushChunk(chunk('b', 'stderr'));
    stream.push(completed);
    stream.end();
    expect((await readAll(stream)).map(({ type }) => type)).toEqual([
      'started',
      'stdout',
      'stderr',
      'completed',
    ]);
    expect(await readAll(stream)).toEqual([]);
  });

  it('loses nothing and keeps the order for a reader that is always there, however it is pushed', async () => {
    const pushes = fc.array(
      fc.record({ text: fc.string({ maxLength: 50 }), err: fc.boolean(), wait: fc.boolean() }),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(pushes, async (list) => {
        const stream = new EventStream();
        const reading = readAll(stream);
        await null;
        for (const { text, err, wait } of list) {
          void stream.pushChunk(chunk(text, err ? 'stderr' : 'stdout'));
          if (wait) await null;
        }
        stream.end();
        const events = await reading;
        const textOf = (type: string): string =>
          events.map((event) => ('chunk' in event && event.type === type ? event.chunk : '')).join('');
        for (const type of ['stdout', 'stderr'] as const) {
          expect(textOf(type)).toBe(
            list
              .filter(({ err }) => err === (type === 'stderr'))
              .map(({ text }) => text)
              .join(''),
          );
        }
      }),
      { numRuns: 50 },
    );
  });

  it('slows down a writer that is ahead of its reader, until the reader has taken half', async () => {
    const stream = new EventStream();
    const reader = stream[Symbol.asyncIterator]();
    stream.push(started);
    await reader.next();
    const text = 'x'.repeat(10_000);
    let room = stream.pushChunk(chunk(text));
    let pushed = 1;
    while (room === undefined) {
      room = stream.pushChunk(chunk(text, pushed++ % 2 === 0 ? 'stdout' : 'stderr'));
      expect(pushed).toBeLessThan(1_000);
    }
    expect(await isPending(room)).toBe(true);
    let taken = 0;
    while (await isPending(room)) {
      const { value } = await reader.next();
      if (value !== undefined && 'chunk' in value) taken += value.chunk.length;
      expect(taken).toBeLessThan(pushed * text.length);
    }
    stream.end();
    for (;;) {
      const { done, value } = await reader.next();
      if (done === true) break;
      if ('chunk' in value) taken += value.chunk.length;
    }
    expect(taken).toBe(pushed * text.length);
  });

  it('releases a waiting writer when the reader leaves, and accepts nothing more', async () => {
    const stream = new EventStream();
    const reader = stream[Symbol.asyncIterator]();
    stream.push(started);
    await reader.next();
    const room = stream.pushChunk(chunk('x'.repeat(1_000_000)));
    expect(await isPending(room)).toBe(true);
    await reader.return(undefined);
    expect(await isPending(room)).toBe(false);
    expect(stream.pushChunk(chunk('x'.repeat(1_000_000)))).toBeUndefined();
    stream.end();
    expect(await readAll(stream)).toEqual([]);
  });

  it('never slows down while nobody reads; it says what it did not keep', async () => {
    const stream = new EventStream();
    stream.push(started);
    for (let index = 0; index < 100; index++) {
      expect(
        stream.pushChunk(chunk('x'.repeat(10_000), 'stdout', index % 2 === 0 ? 'c' : 'other')),
      ).toBeUndefined();
    }
    stream.push(completed);
    stream.end();
    const events = await readAll(stream);
    const kept = events.reduce(
      (sum, event) => sum + ('chunk' in event && event.callId === 'c' ? event.chunk.length : 0),
      0,
    );
    const told = events.find(({ type }) => type === 'progress');
    expect(told).toMatchObject({
      callId: 'c',
      message: `${500_000 - kept} characters of output were not kept: no reader had begun`,
    });
    expect(events.at(-1)?.type).toBe('completed');
  });

  it('holds few of many tiny chunks that cannot be joined', async () => {
    const stream = new EventStream();
    for (let index = 0; index < 300_000; index++)
      void stream.pushChunk(chunk('x', index % 2 === 0 ? 'stdout' : 'stderr'));
    stream.push(completed);
    stream.end();
    expect((await readAll(stream)).length).toBeLessThan(10_000);
  });

  it('ends for two readers that wait at the same time', async () => {
    const stream = new EventStream();
    const both = Promise.all([readAll(stream), readAll(stream)]);
    await null;
    stream.push(started);
    stream.end();
    expect((await both).flat()).toEqual([started]);
  });
});
