import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonTextError } from './json-text-error.js';
import { parseJson } from './parse-json.js';

function refusal(text: string): JsonTextError {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof JsonTextError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text.slice(0, 80)}`);
}

describe('parseJson()', () => {
  it.each([
    ['{}', {}],
    [' [ ] ', []],
    ['{"a":{"b":[1,-2.5e3,true,false,null,""]}}', { a: { b: [1, -2500, true, false, null, ''] } }],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\ud83d\\ude00"', '😀'],
    ['"\\ud83d\ude00"', '😀'],
    ['"😀 日本語 \\u0000 \\n \\/ \u2028"', '😀 日本語 \0 \n / \u2028'],
    ['-0', -0],
    ['0.1', 0.1],
    ['1E-2', 0.01],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992],
    ['-9007199254740992', -9007199254740992],
    ['1e300', 1e300],
    ['0.12345678901234567890', 0.12345678901234568],
    ['18446744073709551616', 2 ** 64],
    ['-19055102811282750', JSON.parse('-19055102811282750')],
    ['{"a":1,"A":2}', { a: 1, A: 2 }],
    ['{"a":{"x":1},"b":{"x":2},"x":3}', { a: { x: 1 }, b: { x: 2 }, x: 3 }],
    ['{"constructor":1,"toString":2}', { constructor: 1, toString: 2 }],
    ['\r\n\t {"a"\n:\t1\r}\n', { a: 1 }],
  ])('accepts %j', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  it.each([
    ['', 1, 'the text ends where a value was expected'],
    ['{', 2, 'the text ends where a key in double quotes was expected'],
    ['{"a"', 5, 'the text ends where ":" after the key was expected'],
    ['{"a":', 6, 'the text ends where a value was expected'],
    ['[1', 3, 'the text ends where "," or "]" was expected'],
    ['{"a":1,}', 8, 'Is there an extra comma?'],
    ['[1,]', 4, 'Is there an extra comma?'],
    ['[,1]', 2, 'a value was expected, not ","'],
    ['[1 2]', 4, '"," or "]" was expected, not "2"'],
    ['{"a" 1}', 6, '":" after the key was expected'],
    ['[1}', 3, 'not "}"'],
    ["{'a':1}", 2, 'Use double quotes'],
    ['{a:1}', 2, 'a key in double quotes was expected, not "a"'],
    ['{1:2}', 2, 'a key in double quotes was expected'],
    ['{"a":1} // x', 9, 'JSON has no comments'],
    ['/* x */ {}', 1, 'JSON has no comments'],
    ['{"a":1} {"b":2}', 9, 'text after the value'],
    ['{}]', 3, 'text after the value'],
    ['NaN', 1, 'a value was expected, not "NaN"'],
    ['-Infinity', 1, 'a value was expected, not "-Infinity"'],
    ['True', 1, 'not "True"'],
    ['undefined', 1, 'not "undefined"'],
    ['truest', 5, 'text after the value'],
    ['01', 1, '"01" is not a JSON number'],
    ['1.', 1, '"1." is not a JSON number'],
    ['.5', 1, 'a value was expected, not ".5"'],
    ['+1', 1, 'a value was expected, not "+1"'],
    ['1e', 1, '"1e" is not a JSON number'],
    ['0x10', 2, 'text after the value'],
    ['1_000', 2, 'text after the value'],
    ['1e400', 1, 'the number 1e400 is too large'],
    ['[-1e999]', 2, 'is too large'],
    ['9007199254740993', 1, 'would lose digits'],
    ['{"offset":12345678901234567890}', 11, 'would lose digits'],
    ['-12345678901234567891', 1, 'would lose digits'],
    ['"abc', 1, 'never ends'],
    ['"abc\\', 5, 'an escape that JSON does not know'],
    ['"\\x41"', 2, 'an escape that JSON does not know'],
    ['"it\\\'s"', 4, 'an escape that JSON does not know'],
    ['"\\u12G4"', 2, 'four hexadecimal digits'],
    ['"\\u+123"', 2, 'four hexadecimal digits'],
    ['"\\u12"', 2, 'four hexadecimal digits'],
    ['"a\nb"', 3, 'a raw line end inside a string. Write it as \\n'],
    ['"a\tb"', 3, 'a raw tab inside a string. Write it as \\t'],
    ['"a\0b"', 3, 'a raw control character inside a string. Write it as \\u0000'],
    ['"\\ud800"', 2, 'half of a surrogate pair'],
    ['"\\udc00"', 2, 'half of a surrogate pair'],
    ['"\\ud800\\ud800"', 2, 'half of a surrogate pair'],
    ['"\\ude00\\ud83d"', 2, 'half of a surrogate pair'],
    ['"\ud800"', 2, 'half of a surrogate pair'],
    ['"\udc00"', 2, 'half of a surrogate pair'],
    ['"a long run of plain text, then \ud800 alone"', 33, 'half of a surrogate pair'],
    ['{"\\ud800":1}', 3, 'half of a surrogate pair'],
    ['{"path":"a","path":"b"}', 13, 'the key "path" is given twice in one object'],
    ['{"path":"a","p\\u0061th":"b"}', 13, 'the key "path" is given twice in one object'],
    ['{"":1,"":2}', 7, 'the key "" is given twice'],
    ['[{"a":{"b":1,"c":[{}],"b":2}}]', 23, 'the key "b" is given twice'],
    ['{"__proto__":{}}', 2, 'the key "__proto__" is not allowed'],
    ['{"a":[{"\\u005f_proto__":1}]}', 8, 'the key "__proto__" is not allowed'],
    ['\ufeff{}', 1, 'byte order mark'],
    ['\u00a0{}', 1, 'a value was expected'],
    ['{}\v', 3, 'text after the value'],
  ])('refuses %j at column %i', (text, column, words) => {
    const error = refusal(text);
    expect(error).toMatchObject({ name: 'JsonTextError', line: 1, column, position: column - 1 });
    expect(error.message).toContain(words);
    expect(error.message).toMatch(/^Cannot parse the JSON: line 1, column \d+: .*[.?]$/);
  });

  it('counts lines from 1 and columns within the line', () => {
    expect(refusal('{\n  "a": 1,\r\n  "b": x\n}')).toMatchObject({ line: 3, column: 8, position: 20 });
    expect(refusal('{\n"a": 1\n')).toMatchObject({ line: 3, column: 1 });
  });

  it('accepts 64 levels and refuses 65, of arrays, objects and both', () => {
    const nest = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);
    expect(parseJson(nest('[', ']', 64))).toBeDefined();
    expect(refusal(nest('[', ']', 65)).message).toContain('nested deeper than 64 levels');
    expect(refusal(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`).message).toContain(
      'nested deeper than 64 levels',
    );
    expect(() => parseJson(nest('[', ']', 3), { maxDepth: 2 })).toThrow('nested deeper than 2 levels');
  });

  it('refuses more than 100,000 values, at any depth', () => {
    const keys = Array.from({ length: 200_000 }, (_, index) => `"k${index}":1`).join(',');
    expect(refusal(`{${keys}}`).message).toContain('more than 100000 values');
    expect(refusal(`[${'1,'.repeat(100_000)}1]`).message).toContain('more than 100000 values');
    expect(refusal(`[${'[],'.repeat(100_000)}1]`).message).toContain('more than 100000 values');
    expect(parseJson(`[${'1,'.repeat(99_998)}1]`)).toHaveLength(99_999);
    expect(() => parseJson('[1,2,3]', { maxValues: 3 })).toThrow('more than 3 values');
  });

  it('pollutes nothing', () => {
    expect(() => parseJson('{"__proto__":{"polluted":true}}')).toThrow(JsonTextError);
    const value = parseJson('{"constructor":{"prototype":{"polluted":true}}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('keeps a quoted piece of the text short and on one line', () => {
    const { message } = refusal(`{"${'x\\n'.repeat(500)}":1,"${'x\\n'.repeat(500)}":2}`);
    expect(message.length).toBeLessThan(250);
    expect(message).not.toContain('\n');
  });

  it.each([
    ['openers', '['.repeat(1_000_000)],
    ['an endless string', `"${'a'.repeat(1_000_000)}`],
    ['digits', '1'.repeat(1_000_000)],
    ['a long fraction', `0.${'0'.repeat(1_000_000)}`],
    ['escapes', `"${'\\u0041'.repeat(170_000)}`],
    ['backslashes', `"${'\\'.repeat(1_000_001)}`],
    ['blanks', ' '.repeat(1_000_000)],
    ['pairs', `"${'😀'.repeat(500_000)}`],
    ['a huge key', `{"${'k'.repeat(500_000)}":1,"${'k'.repeat(500_000)}":1}`],
    ['line ends', `${'\n'.repeat(1_000_000)}x`],
    ['300-digit integers', `[${`${'7'.repeat(300)},`.repeat(3000)}1]`],
    ['letters after a value', `1 ${'x'.repeat(1_000_000)}`],
  ])('reads a megabyte of %s within seconds', (_, text) => {
    const start = performance.now();
    try {
      parseJson(text);
    } catch (error) {
      expect(error).toBeInstanceOf(JsonTextError);
    }
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it('reads what JSON.stringify writes', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: 'grapheme' }),
        fc.constantFrom(undefined, 2, '\t'),
        (value, indent) => {
          fc.pre(!/"__proto__"/.test(JSON.stringify(value)));
          const text = JSON.stringify(value, null, indent);
          expect(parseJson(text)).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  it('accepts nothing that JSON.parse refuses, and throws nothing but JsonTextError', () => {
    const plain = '{ } [ ] , : " \\ "a" "b" 1 - 0 . e true nul \\u 00 d83d / \' "a":1 "__proto__" 1e999';
    const token = fc.constantFrom(' ', '\n', '\ud83d', '\ude00', '\ufeff', ...plain.split(' '));
    fc.assert(
      fc.property(fc.array(token, { maxLength: 14 }), (tokens) => {
        const text = tokens.join('');
        try {
          expect(parseJson(text)).toEqual(JSON.parse(text));
        } catch (error) {
          expect(error).toBeInstanceOf(JsonTextError);
        }
      }),
      { numRuns: 1500 },
    );
  });

  it('refuses a valid text only for one of its documented reasons', () => {
    const own = /twice|__proto__|deeper|values|surrogate|digits|too large/;
    const member = fc.tuple(
      fc.constantFrom('a', 'b', '__proto__'),
      fc.constantFrom('1', '1e999', '"x"', '[]', '{}'),
    );
    fc.assert(
      fc.property(fc.array(member, { maxLength: 4 }), (members) => {
        const text = `{${members.map(([key, value]) => `"${key}":${value}`).join(',')}}`;
        const isClean =
          new Set(members.map(([key]) => key)).size === members.length &&
          !members.some(([key, value]) => key === '__proto__' || value === '1e999');
        if (isClean) expect(parseJson(text)).toEqual(JSON.parse(text));
        else expect(refusal(text).message).toMatch(own);
      }),
    );
  });
});
