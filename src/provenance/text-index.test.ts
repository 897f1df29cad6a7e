import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalize, TextIndex, WantedText } from './text-index.js';

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
          if (wanted.length >= 8)
            expect(index.holds(new WantedText(wanted))).toBe(normalized.includes(wanted));
        }
      }),
    );
  });

  it('says no of most texts without reading', () => {
    const whole = Array.from({ length: 500 }, (_, at) => `line ${at} ${(at * 7919).toString(36)}`).join('\n');
    const index = new TextIndex(whole);
    let found = 0;
    for (let at = 0; at < 2_000; at++) {
      if (index.mayHold(new WantedText(normalize(`other${(at * 104_729 + 13).toString(36)}words`)))) found++;
    }
    expect(found).toBeLessThan(20);
  });

  it('names the line', () => {
    expect(new TextIndex('one\ntwo is longer\nthree').lineOf(new WantedText(normalize('TWO is')))).toBe(2);
  });
});
