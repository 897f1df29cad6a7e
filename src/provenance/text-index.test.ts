import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalize, TextIndex, WantedText } from './text-index.js';

const some = fc
  .array(
    fc.constantFrom(
      'a',
      'B',
      'c',
      ' ',
      '\n',
      'é',
      'ﬁ',
      '1',
      '\\',
      '*',
      '\u00ad',
      '\u200b',
      '\u3000',
      '\u2028',
      '💥',
      '\ud83d',
    ),
    {
      maxLength: 200,
    },
  )
  .map((all) => all.join(''));
const ascii = fc
  .array(fc.constantFrom('a', 'B', ' ', '\t', '\n', '.', '`', '~'), { maxLength: 200 })
  .map((all) => all.join(''));

const HALF = /[\ud800-\udfff]/u;

describe('TextIndex', () => {
  it('contains exactly the words of its text, by the rules of normalize()', () => {
    const text = fc.oneof(some, ascii);
    fc.assert(
      fc.property(text, fc.nat(), fc.integer({ min: 8, max: 20 }), text, (whole, from, length, other) => {
        const index = new TextIndex(whole);
        const normalized = normalize(whole);
        const part = normalized.slice(from % (normalized.length + 1)).slice(0, length);
        // Only whole characters: in UTF-8, half of one would be another character.
        const wanted = [other, part, other, part]
          .map(normalize)
          .filter((one) => one.length >= 8 && !HALF.test(one));
        const expected = wanted.findIndex((one) => normalized.includes(one));
        expect(index.firstOf(wanted.map((one) => new WantedText(one)))).toBe(expected);
      }),
    );
  });

  it('compares every character by its compatible form in lower case, also in the middle of a text', () => {
    const differing = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit)).filter(
      (one) => {
        const lower = `a${one}b`.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ');
        return normalize(`a${one}b`) !== lower.replace(/[\s\\*`~]|\p{Default_Ignorable_Code_Point}/gu, '');
      },
    );
    // The dot of the Turkish letter is kept.
    expect(differing).toEqual(['\u0130']);
    const index = new TextIndex('ΤΗΣ ΟΔΟΣ, “quoted”, 𐐀 and ＦＵＬＬ ﬁnish');
    for (const one of ['της οδος', 'ΟΔΟΣ, “QUOTED”', '𐐀 and full', 'FULL FINISH'])
      expect(index.firstOf([new WantedText(normalize(one))])).toBe(0);
    expect(index.firstOf([new WantedText(normalize('FULL FINISHED'))])).toBe(-1);
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

  it('looks closer once it was wrong', () => {
    // It contains every third part of six characters.
    const index = new TextIndex('abcdef defghi ghijkl jklmno');
    const wanted = new WantedText('abcdefghijklmnop');
    expect(index.mayHold(wanted)).toBe(true);
    expect(index.firstOf([wanted])).toBe(-1);
    expect(index.mayHold(wanted)).toBe(false);
    expect(index.firstOf([wanted, new WantedText('fghijklm'), new WantedText('fdefghig')])).toBe(2);
  });

  it('names the line in which a text begins, in any script and across lines', () => {
    const lineOf = (text: string, wanted: string) =>
      new TextIndex(text).lineOf(new WantedText(normalize(wanted)));
    expect(lineOf('one\ntwo is longer\nthree', 'TWO is')).toBe(2);
    expect(lineOf('one\r\n\r\ntwo is\r\nlonger', 'is longer')).toBe(3);
    expect(lineOf('été\n\u2028ﬁfteen\nœuvres', 'FIFTEEN')).toBe(2);
    expect(lineOf('one', 'not there')).toBeUndefined();
  });
});
