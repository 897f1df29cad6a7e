import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameKind, showText, showValue } from './show-value.js';

describe('showValue()', () => {
  it.each<[unknown, string]>([
    ['a"b', '"a\\"b"'],
    [{ a: [1, null, true], b: { c: 'x' } }, '{"a":[1,null,true],"b":{"c":"x"}}'],
    [[], '[]'],
    [undefined, 'undefined'],
    ['\u001b[2J\u009b\u202e', '"\\u001b[2J\\u009b\\u202e"'],
    ['x'.repeat(100), `"${'x'.repeat(57)}…"`],
    [Array.from({ length: 100 }, () => 1), `[${'1,'.repeat(29)}…`],
  ])('shows %o', (value, shown) => {
    expect(showValue(value)).toBe(shown);
  });

  it('shows any JSON on one harmless line of at most 60 characters', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const shown = showValue(value);
        expect(shown.length).toBeLessThanOrEqual(60);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(() => encodeURIComponent(shown)).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });

  it('never ends inside an escape', () => {
    for (let length = 50; length < 62; length++) {
      expect(showValue(`${'x'.repeat(length)}\u0007\u0007`)).toMatch(/(x|\\u0007)(…)?"$/);
      expect(showValue(`${'x'.repeat(length)}\\\\`)).toMatch(/(x|\\\\)(…)?"$/);
    }
  });

  it('looks only at what it shows', () => {
    const started = performance.now();
    showValue(Array.from({ length: 100_000 }, () => 'x'.repeat(1_000)));
    showValue('x'.repeat(100_000_000));
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('showText()', () => {
  it('is the text where that is short and harmless, and cuts between characters', () => {
    expect(showText('/a/b', 100)).toBe('/a/b');
    expect(showText('🌍🌍🌍', 4)).toBe('🌍…');
    expect(showText('a\ud800\n', 10)).toBe('a\ufffd\\u000a');
  });
});

describe('nameKind()', () => {
  it.each<[unknown, string]>([
    [null, 'null'],
    [undefined, 'undefined'],
    ['x', 'a string'],
    [1, 'an integer'],
    [1.5, 'a number'],
    [true, 'a boolean'],
    [[], 'an array'],
    [{}, 'an object'],
    [new Map(), 'a Map'],
    [() => 1, 'a function'],
  ])('names %s', (value, kind) => {
    expect(nameKind(value)).toBe(kind);
  });

  it('does not believe what a value says of itself', () => {
    expect(nameKind({ [Symbol.toStringTag]: 'Date' })).toBe('an object');
  });
});
