import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKeptBytes } from './kept-bytes.js';

function keep(keepBytes: number, chunks: readonly Uint8Array[]) {
  const kept = createKeptBytes(keepBytes);
  for (const chunk of chunks) kept.push(chunk);
  return kept.end();
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const borders = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort(
    (a, b) => a - b,
  );
  return borders.slice(1).map((border, index) => bytes.subarray(borders[index], border));
}

describe('createKeptBytes()', () => {
  it('keeps everything while it fits', () => {
    expect(keep(6, [Buffer.from('abc'), Buffer.from('def')])).toEqual({
      head: 'abcdef',
      tail: '',
      totalBytes: 6,
      omittedBytes: 0,
      binary: false,
    });
  });

  it('gives the extra byte of an odd limit to the head', () => {
    expect(keep(5, [Buffer.from('abcdefgh')])).toMatchObject({ head: 'abc', tail: 'gh', omittedBytes: 3 });
  });

  it.each([
    [0, '', ''],
    [1, 'a', ''],
    [2, 'a', 'd'],
  ])('can keep %d bytes', (keepBytes, head, tail) => {
    const expected = { head, tail, totalBytes: 4, omittedBytes: 4 - keepBytes, binary: false };
    expect(keep(keepBytes, [Buffer.from('abcd')])).toEqual(expected);
  });

  it('drops the incomplete characters at the cut', () => {
    // ü has two bytes: the head ends within the second ü, the tail starts within the last but one.
    expect(keep(6, [Buffer.from('üüüüü')])).toEqual({
      head: 'ü',
      tail: 'ü',
      totalBytes: 10,
      omittedBytes: 6,
      binary: false,
    });
    expect(keep(6, [Buffer.from('😀a😀')])).toEqual({
      head: '',
      tail: '',
      totalBytes: 9,
      omittedBytes: 9,
      binary: false,
    });
  });

  it('keeps invalid bytes in their places', () => {
    expect(keep(8, [Buffer.alloc(20, 0x80)])).toMatchObject({ head: '����', tail: '����', omittedBytes: 12 });
  });

  it('copies each chunk, so later writes to its buffer change nothing', () => {
    const kept = createKeptBytes(10);
    const chunk = Buffer.from('abc');
    kept.push(chunk);
    chunk.fill('x');
    expect(kept.end().head).toBe('abc');
  });

  it('does not depend on the chunks of the stream, and counts every byte', () => {
    const places = fc.array(fc.nat(), { maxLength: 8 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(80), places, (bytes, keepBytes, borders) => {
        const whole = keep(keepBytes, [bytes]);
        expect(keep(keepBytes, cut(bytes, borders))).toEqual(whole);
        expect(whole.totalBytes).toBe(bytes.length);
        expect(whole.omittedBytes > 0).toBe(bytes.length > keepBytes);
      }),
    );
  });

  it('gives the start and the end of the text without broken characters, and almost fills its limit', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 });
    fc.assert(
      fc.property(text, fc.nat(60), fc.array(fc.nat(), { maxLength: 5 }), (value, keepBytes, borders) => {
        const bytes = Buffer.from(value);
        const { head, tail, omittedBytes, totalBytes } = keep(keepBytes, cut(bytes, borders));
        expect(value.startsWith(head)).toBe(true);
        expect(value.endsWith(tail)).toBe(true);
        const kept = Buffer.byteLength(head) + Buffer.byteLength(tail);
        expect(kept + omittedBytes).toBe(totalBytes);
        expect(kept).toBeGreaterThanOrEqual(Math.min(bytes.length, keepBytes) - 6);
        expect(kept).toBeLessThanOrEqual(keepBytes);
      }),
    );
  });
});
