import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toPieces, toVisible, toWords, widthOf } from './visible-text.js';

describe('toVisible()', () => {
  it.each([
    ['ls\u200b -la', 'ls‹U+200B› -la'],
    ['a\u202eb', 'a‹U+202E›b'],
    ['\u001b[2Jx\r', '‹U+001B›[2Jx‹U+000D›'],
    ['a\u00a0b\u3000c', 'a‹U+00A0›b‹U+3000›c'],
    ['\u115f\u3164\u2800\u034f\ufe0f\u{e0041}', '‹U+115F›‹U+3164›‹U+2800›‹U+034F›‹U+FE0F›‹U+E0041›'],
    ['\udc00x', '‹U+DC00›x'],
    ['z\u0301\u0301\u0301\u0301\u0301', 'z\u0301\u0301\u0301‹U+0301›‹U+0301›'],
    ['two\nlines', 'two\nlines'],
    ['naïve 漢字 привет 👍', 'naïve 漢字 привет 👍'],
  ])('names what cannot be seen in %j', (text, shown) => {
    expect(toVisible(text)).toBe(shown);
  });

  it.each([
    ['rm \u0441at', 'rm ‹U+0441›at'],
    ['\u0455\u0441\u0440', '‹U+0455›‹U+0441›‹U+0440›'],
    ['ｒｍ －rf', '‹U+FF52›‹U+FF4D› ‹U+FF0D›rf'],
    ['𝗋𝗆', '‹U+1D5CB›‹U+1D5C6›'],
    ['cat a⁄b', 'cat a‹U+2044›b'],
    ['echo привет', 'echo привет'],
    ['echo Ελλάδα', 'echo Ελλάδα'],
  ])('names what looks like something else in the command %j', (text, shown) => {
    expect(toVisible(text, { lookalikes: true })).toBe(shown);
  });

  it('takes a cut mark for ours only where ours can be', () => {
    const shown = (text: string): string => toVisible(text, { lookalikes: true, isShortened: true });
    expect(shown('Run command: cat aaa…')).toBe('Run command: cat aaa…');
    expect(shown('it matches "cat aaa…", says a rule')).toBe('it matches "cat aaa…", says a rule');
    expect(shown('cat … b')).toBe('cat ‹U+2026› b');
    expect(toVisible('cat a…', { lookalikes: true })).toBe('cat a‹U+2026›');
  });

  it('leaves nothing out, and nothing that drives a terminal in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = toVisible(text, { lookalikes: true });
        expect(shown.replace(/\n/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        const named = (_: string, code: string): string => String.fromCodePoint(Number.parseInt(code, 16));
        if (!/[‹›]/.test(text)) expect(shown.replace(/‹U\+([0-9A-F]+)›/g, named)).toBe(text);
      }),
    );
  });
});

describe('toPieces()', () => {
  it('gives pieces that fit, and together are the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 30 }), (text, columns) => {
        const pieces = toPieces(text, columns);
        expect(pieces.join('')).toBe(text);
        for (const piece of pieces) expect(widthOf(piece)).toBeLessThanOrEqual(columns);
      }),
    );
  });

  it('counts wide characters twice', () => {
    expect(toPieces('漢字漢字', 5)).toEqual(['漢字', '漢字']);
  });
});

describe('toWords()', () => {
  it.each([
    ['the quick brown fox jumps', 12, ['the quick ', 'brown fox ', 'jumps']],
    ['exactly twelve', 7, ['exactly ', 'twelve']],
    ['a verylongword here', 8, ['a verylo', 'ngword ', 'here']],
    ['short', 8, ['short']],
  ])('breaks %j at %d columns after a blank, or in a word that is long', (text, columns, lines) => {
    expect(toWords(text, columns)).toEqual(lines);
  });

  it('gives lines that fit, and together are the text', () => {
    const text = fc
      .array(fc.constantFrom('a', 'bc', ' ', '漢', 'e\u0301', '👍'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 30 }), (text, columns) => {
        const lines = toWords(text, columns);
        expect(lines.join('')).toBe(text);
        for (const line of lines) expect(widthOf(line.replace(/ $/, ''))).toBeLessThanOrEqual(columns);
      }),
    );
  });
});
