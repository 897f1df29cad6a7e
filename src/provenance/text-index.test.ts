import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalize, TextIndex } from './text-index.js';

const text = fc
  .array(fc.constantFrom('a', 'B', 'c', ' ', '\n', 'é', 'ﬁ', '1'), { maxLength: 200 })
  .map((all) => all.join(''));

describe('TextIndex', () => {
  it('holds exactly what stands in its text, by the rules of normalize()', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.integer({ min: 8, max: 20 }), text, (whole, from, length, other) => {
        const index = new TextIndex(whole);
        const normalized = normalize(whole);
        const part = normalized.slice(from % (normalized.length + 1)).slice(0, length);
        for (const wanted of [part, normalize(other)]) {
          if (wanted.length >= 8) expect(index.holds(wanted)).toBe(normalized.includes(wanted));
        }
      }),
    );
  });

  it('names the line', () => {
    expect(new TextIndex('one\ntwo is longer\nthree').lineOf(normalize('TWO is'))).toBe(2);
  });
});
