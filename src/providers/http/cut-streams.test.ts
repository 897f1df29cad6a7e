import { describe, expect, it } from 'vitest';
import { ModelError } from '../../errors/model-error.js';
import { someOf } from '../../testing/fixtures/share-of-runs.js';
import { createModel } from './create-model.js';
import { type Asked, ask } from './fixtures/ask.js';
import { LIMIT_MS, type PlayedAnswer, playWorld } from './fixtures/played-world.js';
import { CALLS, REASONING, RECORDINGS, type Recording, TEXT, toWire, USAGE } from './fixtures/recordings.js';

const BYTES = new TextEncoder();
const named = RECORDINGS.map((recording) => [recording.format, recording] as const);

async function play({ format }: Recording, chunks: PlayedAnswer['chunks'] = []): Promise<Asked> {
  const options = { model: 'm', apiKey: 'k', retries: 0, timeoutMs: LIMIT_MS };
  return ask(createModel(format, options, playWorld({ chunks })), 'go');
}

// In a soak, every byte: thousands of streams per test.
describe.each(named)('a stream of %s', (_, recording) => {
  const bytes = BYTES.encode(toWire(recording));
  const places = cutsIn(bytes);

  it('gives thoughts, text, calls, usage and the message, in this order', async () => {
    const { events, text, calls, end, thrown } = await play(recording, [bytes]);
    expect(thrown).toBeUndefined();
    expect(text).toBe(TEXT);
    expect(events.map((event) => (event.type === 'reasoning' ? event.text : '')).join('')).toBe(REASONING);
    expect(calls).toEqual(CALLS);
    const kinds = events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1]);
    expect(kinds).toEqual(['reasoning', 'text', 'call', 'usage', 'end']);
    expect(events.at(-2)).toEqual(USAGE);
    const native = { format: recording.format, messages: recording.native };
    expect(end).toMatchObject({ stopReason: 'tool_calls' });
    expect(end?.message).toEqual({
      role: 'assistant',
      text: TEXT,
      calls: CALLS,
      errors: [],
      id: recording.id,
      native,
    });
    // It can be kept.
    expect(JSON.parse(JSON.stringify(end?.message))).toEqual(end?.message);
  });

  it('is the same wherever its bytes are parted, inside of characters too', async () => {
    const whole = toComparable(await play(recording, [bytes]));
    const wrong: number[] = [];
    for (const at of places) {
      const parted = await play(recording, [bytes.subarray(0, at), bytes.subarray(at)]);
      if (toComparable(parted) !== whole) wrong.push(at);
    }
    expect(wrong).toEqual([]);
    expect(
      toComparable(
        await play(
          recording,
          [...bytes].map((byte) => Uint8Array.of(byte)),
        ),
      ),
    ).toBe(whole);
  });

  it.each([
    ['CR LF', toWire(recording, '\r\n')],
    ['CR', toWire(recording, '\r')],
    ['a byte order mark', `\uFEFF${toWire(recording)}`],
    ['comments', `: hello\n\n${toWire(recording).replaceAll('\n\n', '\n\n: ping\n\n')}`],
    ['no empty line at its end', toWire(recording).replace(/\n+$/, '')],
  ])('is read with %s, byte by byte too', async (__, wire) => {
    const whole = toComparable(await play(recording, [bytes]));
    expect(toComparable(await play(recording, [wire]))).toBe(whole);
    const single = [...BYTES.encode(wire)].map((byte) => Uint8Array.of(byte));
    expect(toComparable(await play(recording, single))).toBe(whole);
  });

  it.each([
    ['ends', []],
    ['fails', [new TypeError('terminated')]],
  ])('that %s at any byte yields its complete parts and throws, or is complete', async (__, rest) => {
    const whole = await play(recording, [bytes]);
    const message = JSON.stringify(whole.end?.message);
    let cuts = 0;
    for (const at of [0, ...places]) {
      const cut = await play(recording, [bytes.subarray(0, at), ...rest]);
      if (cut.end !== undefined) {
        if (JSON.stringify(cut.end.message) !== message) throw new Error(`another message, cut at ${at}`);
        continue;
      }
      cuts += 1;
      const why = faultOf(cut);
      if (why !== undefined) throw new Error(`cut at ${at}: ${why}`);
    }
    expect(cuts).toBeGreaterThan(places.length / 2);
  });
});

/**
 * Some of the places between two bytes, and all places inside a character, at the end of a line and at the very end.
 */
function cutsIn(bytes: Uint8Array): readonly number[] {
  const places = Array.from({ length: bytes.length - 1 }, (_, at) => at + 1);
  const some = new Set(someOf(places, 150));
  const isHard = (at: number) => ((bytes[at] ?? 0) & 0xc0) === 0x80 || at > bytes.length - 20;
  return places.filter((at) => some.has(at) || isHard(at));
}

/** The fault of a cut stream; undefined if it has no fault. */
function faultOf({ events, text, calls, thrown }: Asked): string | undefined {
  if (!(thrown instanceof ModelError) || !thrown.retriable) return `thrown is ${String(thrown)}`;
  if (!TEXT.startsWith(text)) return `text ${text}`;
  if (JSON.stringify(calls) !== JSON.stringify(CALLS.slice(0, calls.length))) return 'other calls';
  const errors = events.flatMap((event) => (event.type === 'call_error' ? [event.error] : []));
  if (errors.some(({ unfinished, name }) => unfinished !== true || name === undefined)) return 'other errors';
  return errors.length + calls.length > CALLS.length ? 'too many calls' : undefined;
}

function toComparable({ events, thrown }: Asked): string {
  const pieces = (type: string) =>
    events.map((event) => ('text' in event && event.type === type ? event.text : '')).join('');
  const rest = events.filter(({ type }) => type !== 'text' && type !== 'reasoning');
  return JSON.stringify([pieces('text'), pieces('reasoning'), rest, String(thrown)]);
}
