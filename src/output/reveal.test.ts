import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reveal } from './reveal.js';

describe('reveal()', () => {
  it.each([
    ['rm\u200b -rf x', 'rm‹U+200B› -rf x'],
    ['a\u202eb', 'a‹U+202E›b'],
    ['a\u0000\u001b[31mb\r', 'a‹U+0000›‹U+001B›[31mb‹U+000D›'],
    ['a\u00a0b\u3000c', 'a‹U+00A0›b‹U+3000›c'],
    ['\ufeffls \u{e0041}', '‹U+FEFF›ls ‹U+E0041›'],
    ['\u0430pt install', '‹U+0430›pt install'],
    ['\u0441\u0430t', '‹U+0441›‹U+0430›t'],
    ['\uff52\uff4d -rf', '‹U+FF52›‹U+FF4D› -rf'],
    ['\u{1d42b}m', '‹U+1D42B›m'],
    ['https://example.com\u2215x', 'https://example.com‹U+2215›x'],
    ['rm \u2013rf x', 'rm ‹U+2013›rf x'],
    ['a \ud800 b', 'a ‹U+D800› b'],
  ])('shows what cannot be seen, or looks like something else: %j', (text, shown) => {
    expect(reveal(text)).toBe(shown);
    expect(reveal(text, 'line')).toBe(shown);
  });

  it.each([
    'ls -la\n\techo "x"',
    'git commit -m "привет, мир"',
    'echo „größer“ – naïve café ✓ 日本語 Ελλάδα',
  ])('leaves plain text of any language: %j', (text) => {
    expect(reveal(text)).toBe(text);
  });

  it('marks the end of a line where all has to be one line', () => {
    expect(reveal('a\n\tb c', 'line')).toBe('a\n\tb c'.replace('\n', '‹U+000A›').replace('\t', '‹U+0009›'));
  });

  it('drops nothing, and finds nothing more the second time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = reveal(text);
        expect(reveal(shown)).toBe(shown);
        const back = shown.replaceAll(/‹U\+([0-9A-F]+)›/g, (_, code: string) =>
          String.fromCodePoint(Number.parseInt(code, 16)),
        );
        expect(back).toBe(text);
      }),
    );
  });
});
