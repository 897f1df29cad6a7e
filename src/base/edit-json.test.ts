import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blankComments, editJson } from './edit-json.js';

const parse = (text: string): unknown => JSON.parse(blankComments(text.replace(/^\uFEFF/, '')));
const member = fc.constantFrom('a', 'b', 'hooks', 'x // y', '/* "z', 'é\\');
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(0, true, null, '', 'a, b', '// no comment', '{"'),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(member, tie('any'), { maxKeys: 4 }),
  ),
})).any;
const container = fc.oneof(fc.array(value, { maxLength: 4 }), fc.dictionary(member, value, { maxKeys: 4 }));
const unit = fc.constantFrom('', '  ', '\t', '    ');

/** A comment behind every comma and opening bracket that ends a line. */
const commented = (text: string): string => text.replace(/(?<=[[{,]|^)\n/g, ' // a "note", {\n');

describe('editJson()', () => {
  it('gives a text with exactly the other value', () => {
    fc.assert(
      fc.property(container, container, unit, fc.boolean(), (before, after, indent, hasComments) => {
        const text = JSON.stringify(before, null, indent);
        expect(parse(editJson(hasComments ? commented(text) : text, after))).toEqual(after);
      }),
    );
  });

  it('gives back every byte when what it added is removed', () => {
    fc.assert(
      fc.property(container, container, unit, fc.boolean(), (before, more, indent, hasComments) => {
        const plain = JSON.stringify(before, null, indent);
        const text = `${hasComments ? commented(plain) : plain}\n`;
        const added = Array.isArray(before) ? [...before, { more }] : { ...before, added: { more } };
        expect(editJson(editJson(text, added), before)).toBe(text);
      }),
    );
  });

  it.each([
    [
      'inline parts',
      '{ "a": [1,2], "b": {} }',
      { a: [1, 2], b: {}, c: 1 },
      '{ "a": [1,2], "b": {},\n  "c": 1 }',
    ],
    [
      'a comment behind the last part',
      '{\n\t"a": 1 // why\n}\n',
      { a: 1, b: 2 },
      '{\n\t"a": 1, // why\n\t"b": 2\n}\n',
    ],
    [
      'a comment before a part that goes',
      '[\n  // one\n  1,\n  // two\n  2\n]',
      [2],
      '[\n  // one\n  // two\n  2\n]',
    ],
    [
      'line ends and a mark',
      '\uFEFF{\r\n "a": {}\r\n}\r\n',
      { a: { b: 1 } },
      '\uFEFF{\r\n "a": {\r\n  "b": 1\r\n }\r\n}\r\n',
    ],
    [
      'a part that changes',
      '{"a": [ {"b":1} , {"b":2} ]}',
      { a: [{ b: 3 }, { b: 2 }] },
      '{"a": [ {"b":3} , {"b":2} ]}',
    ],
    ['nothing', '{ }', {}, '{ }'],
  ])('keeps %s', (_what, before, after, text) => {
    expect(editJson(before, after)).toBe(text);
  });
});
