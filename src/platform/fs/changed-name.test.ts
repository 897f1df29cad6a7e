import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toBinary } from './binary-fs.js';
import { changedName } from './changed-name.js';

const bytes = (...codes: readonly number[]): string => String.fromCharCode(...codes);

describe('changedName()', () => {
  it.each([
    ['plain/name with blank.txt', 'plain/name with blank.txt'],
    ['説明.txt', '説明.txt'],
    ['a\nb', 'a\\u{A}b'],
    ['a\u001b[2Jb', 'a\\u{1B}[2Jb'],
    ['zero\u200bwidth', 'zero\\u{200B}width'],
    ['evil\u202egpj.sh', 'evil\\u{202E}gpj.sh'],
    ['no\u00a0break', 'no\\u{A0}break'],
    ['tag\u{e0041}', 'tag\\u{E0041}'],
    ['back\\slash', 'back\\slash'],
    ['\\u{200B}', '\\u{5C}u{200B}'],
    ['\\xff', '\\u{5C}xff'],
  ])('names %j', (name, shown) => {
    expect(changedName(toBinary(name))).toBe(shown);
  });

  it('names bytes that are not UTF-8', () => {
    expect(changedName(`a${bytes(0xff)}b`)).toBe('a\\xffb');
    expect(changedName(`${bytes(0xc3, 0xa9, 0xc3)}`)).toBe('é\\xc3');
    // An encoded surrogate, and a character with an overlong encoding.
    expect(changedName(bytes(0xed, 0xa0, 0x80))).toBe('\\xed\\xa0\\x80');
    expect(changedName(bytes(0xc0, 0x80))).toBe('\\xc0\\x80');
  });

  it('gives each name one text, from which it can be read back', () => {
    const name = fc.array(
      fc.oneof(
        fc.integer({ min: 1, max: 255 }).map((code) => bytes(code)),
        fc.constantFrom('\\', '\\x', '\\u{', '}', 'ff', '5C', '\u200b', '\u202e', 'é', '説').map(toBinary),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(name, (pieces) => {
        const path = pieces.join('');
        const shown = changedName(path);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        const back = Buffer.concat(
          shown
            .split(/(\\u\{[0-9A-F]+\}|\\x[0-9a-f]{2})/)
            .map((part, at) =>
              at % 2 === 0
                ? Buffer.from(part)
                : part.startsWith('\\x')
                  ? Buffer.from([Number.parseInt(part.slice(2), 16)])
                  : Buffer.from(String.fromCodePoint(Number.parseInt(part.slice(3, -1), 16))),
            ),
        );
        expect(back.toString('latin1')).toBe(path);
      }),
    );
  });
});
