import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileLinearPattern } from './linear-pattern.js';

/** Pieces of patterns that mean the same in JavaScript and in RE2, or are translated. */
const piece = fc.constantFrom(
  'a',
  'b',
  '-',
  '_',
  '\\.',
  '\\/',
  '\\-',
  '.',
  '\\s',
  '\\S',
  '\\d',
  '\\D',
  '\\w',
  '\\W',
  '\\b',
  '\\n',
  '\\v',
  '[ab]',
  '[^ab]',
  '[\\s\\S]',
  '[^\\s]',
  '[^\\S\\n]',
  '[[:alpha:]]',
  '[a[]',
  '[\\]x]',
  '[\\b]',
  '[]',
  '[^]',
  '[-a]',
  '\\u0061',
  '\\u{1F30D}',
  '\\ud83c\\udf0d',
  '\\x61',
  '\\cJ',
  '\\0',
  '🌍',
  '\\p{L}',
  '\\P{Lu}',
  '(?:a|b)',
  '(?<n>a)',
);
const quantified = fc
  .tuple(piece, fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{0,3}', '+?'))
  .map(([text, quantifier]) => (text === '\\b' ? text : text + quantifier));
const pattern = fc
  .tuple(
    fc.constantFrom('', '^'),
    fc.array(quantified, { minLength: 1, maxLength: 4 }),
    fc.constantFrom('', '$'),
  )
  .map(([start, pieces, end]) => start + pieces.join('') + end)
  .filter((text) => isPattern(text));
const text = fc.string({
  unit: fc.constantFrom(
    'a',
    'b',
    'A',
    'é',
    '1',
    '-',
    '_',
    '.',
    '/',
    '[',
    ']',
    ':',
    ' ',
    '\n',
    '\r',
    '\v',
    '\t',
    '\b',
    '\0',
    '🌍',
    '\u00a0',
    '\u1680',
    '\u2003',
    '\u2028',
    '\u2029',
    '\u3000',
    '\ufeff',
    '\u200b',
    '\u0085',
  ),
  maxLength: 6,
});

describe('compileLinearPattern()', () => {
  it('matches what ECMA-262 matches', () => {
    fc.assert(
      fc.property(pattern, text, (source, subject) => {
        expect(compileLinearPattern(source).test(subject)).toBe(new RegExp(source, 'u').test(subject));
      }),
      { numRuns: 800 },
    );
  });

  it.each([
    ['^[\\w-.]+$', 'a-b.c', true],
    ['^a\\_b$', 'a_b', true],
    ['^a\\-b$', 'a-b', true],
    ["^it\\'s$", "it's", true],
    ['^{a}$', '{a}', true],
  ])('takes %s, which only the older grammar takes', (source, subject, matches) => {
    expect(compileLinearPattern(source).test(subject)).toBe(matches);
  });

  it.each([
    '(?=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '(?:a{1000}){1000}',
    'a{1000}'.repeat(580),
    '\\p{L}{1000}'.repeat(6),
    '(?:\\p{L}\\p{L}\\p{L}\\p{L}\\p{L}\\p{L}\\p{L}){900}',
    '^.{1,2000}$',
    '\\Aa',
    '\\Qa.b',
    '\\p{NoSuch}',
    '(?i)a',
    'a++',
    '(',
    '[b-a]',
  ])('refuses %s', (source) => {
    expect(() => compileLinearPattern(source)).toThrow(
      /^the pattern ".*…?" (cannot be matched in linear time|is no|is too large)/,
    );
  });

  it.each([
    ['(a+)+$', `${'a'.repeat(50_000)}!`],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', `${'a'.repeat(50_000)}!`],
    ['^(.*?,){15}P', '1,'.repeat(25_000)],
    ['\\s+$', `${' '.repeat(50_000)}x`],
    ['.*.*=.*', 'x'.repeat(50_000)],
  ])('answers soon for %s', (source, subject) => {
    const linear = compileLinearPattern(source);
    const started = performance.now();
    expect(linear.test(subject)).toBe(false);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

function isPattern(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}
