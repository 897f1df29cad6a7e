import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TRUNCATION_MARKER, truncate } from './truncate.js';

const bytes = (text: string) => Buffer.byteLength(text);

describe('truncate (D079, D080, D137)', () => {
  it('has a marker of 24 bytes', () => {
    expect(bytes(TRUNCATION_MARKER)).toBe(24);
    expect(TRUNCATION_MARKER).toBe('\n\n... [output truncated]');
  });

  it.each([
    ['', 0],
    ['', 100],
    ['abc', 3],
    ['é'.repeat(10), 20],
    ['🌍'.repeat(13), 52],
    ['a'.repeat(102_400), 102_400],
  ])('leaves %# alone when it fits exactly', (text, limit) => {
    expect(truncate(text, limit)).toEqual({ text, truncated: false });
  });

  it.each([
    ['one below the marker', 'a'.repeat(30), 23, TRUNCATION_MARKER.slice(0, 23)],
    ['the marker itself', 'a'.repeat(30), 24, TRUNCATION_MARKER],
    ['one byte of text', 'a'.repeat(30), 25, `a${TRUNCATION_MARKER}`],
    ['nothing at all', 'abc', 0, ''],
    ['a limit below zero', 'abc', -5, ''],
    ['a limit that is no number', 'abc', Number.NaN, ''],
    ['a limit between two bytes', 'a'.repeat(30), 25.9, `a${TRUNCATION_MARKER}`],
    ['a two-byte character on the cut', 'é'.repeat(20), 29, `éé${TRUNCATION_MARKER}`],
    ['a three-byte character on the cut', '→'.repeat(20), 29, `→${TRUNCATION_MARKER}`],
    ['a four-byte character on the cut', '🌍'.repeat(13), 51, `${'🌍'.repeat(6)}${TRUNCATION_MARKER}`],
    ['a character that never fits', '🌍'.repeat(13), 27, TRUNCATION_MARKER],
  ])('cuts at %s', (_what, text, limit, expected) => {
    expect(truncate(text, limit)).toEqual({ text: expected, truncated: true });
  });

  it('counts bytes where the number of characters would fit', () => {
    expect(truncate('é'.repeat(40), 79).truncated).toBe(true);
  });

  it('knows no limit when the limit is infinite', () => {
    expect(truncate('abc', Number.POSITIVE_INFINITY)).toEqual({ text: 'abc', truncated: false });
  });

  it('never exceeds the limit, never splits a character, and keeps the longest beginning that fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), fc.nat(200), (text, limit) => {
        const cut = truncate(text, limit);
        expect(bytes(cut.text)).toBeLessThanOrEqual(limit);
        expect(cut.truncated).toBe(bytes(text) > limit);
        if (!cut.truncated || limit <= 24) return;
        const body = cut.text.slice(0, -TRUNCATION_MARKER.length);
        expect(text.startsWith(body)).toBe(true);
        const next = String.fromCodePoint(text.codePointAt(body.length) ?? 0);
        expect(bytes(body + next)).toBeGreaterThan(limit - 24);
        expect(cut.text).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });
});
