import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNameFinder, createNameMatcher } from './match-name.js';

describe('createNameMatcher', () => {
  it('treats a pattern without stars as a whole name', () => {
    const matches = createNameMatcher(['PATH'], false);
    expect([matches('PATH'), matches('path'), matches('PATHS'), matches('MYPATH')]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(createNameMatcher(['PATH'], true)('Path')).toBe(true);
  });

  it('does not let two parts share characters', () => {
    expect(createNameMatcher(['AB*BA'], false)('ABA')).toBe(false);
    expect(createNameMatcher(['*_KEY_*'], false)('_KEY')).toBe(false);
    expect(createNameMatcher(['A*B*B'], false)('AB')).toBe(false);
  });

  it('matches like a regular expression', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'A', 'b', '_', '\n'), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'A', 'b', '_', '*'), maxLength: 6 });
    fc.assert(
      fc.property(name, fc.array(pattern, { maxLength: 3 }), fc.boolean(), (text, patterns, ignoreCase) => {
        const source = patterns.map((each) => each.replaceAll('*', '[^]*')).join('|');
        const expected =
          patterns.length > 0 && new RegExp(`^(?:${source})$`, ignoreCase ? 'i' : '').test(text);
        expect(createNameMatcher(patterns, ignoreCase)(text)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('createNameFinder', () => {
  it('finds the first row with a matching pattern', () => {
    const find = createNameFinder([['A*C'], ['*B', 'AB', 'A*'], ['*X*', 'AC'], ['XY']], false);
    expect(['AC', 'AB', 'AD', 'CB', 'CXC', 'XY', 'XYZ', 'B', 'C', ''].map(find)).toEqual([
      0,
      1,
      1,
      1,
      2,
      2,
      2,
      1,
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
  });
});
