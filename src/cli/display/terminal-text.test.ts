import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPalette, shortIds, toSafeJson } from './terminal-text.js';

describe('createPalette()', () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [false, { FORCE_COLOR: '0' }, false],
    [true, { FORCE_COLOR: '0' }, false],
    [true, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
  ])('on a terminal: %s, with %j: colours %s', (isTerminal, env, coloured) => {
    expect(createPalette(isTerminal, env).red('x')).toBe(coloured ? '\u001b[31mx\u001b[39m' : 'x');
  });
});

const ALL = [
  '0mwsbrz9400-aaaa',
  '0mwsbrz9401-aaaa',
  '0mwsbrz9500-bbbb',
  'b1',
  '0old-process-1',
  '0old-process-10',
];
const short = shortIds((prefix) => ALL.filter((id) => id.startsWith(prefix)));

it('shows what tells an id apart from all others, and never less than 8 characters', () => {
  expect(ALL.map(short)).toEqual([
    '0mwsbrz9400',
    '0mwsbrz9401',
    '0mwsbrz95',
    'b1',
    // The full id names it, although another id begins in the same way.
    '0old-process-1',
    '0old-process-10',
  ]);
  expect(short('0aaaaaaaaaaaa')).toBe('0aaaaaaa');
});

it('cannot drive the terminal', () => {
  expect(shortIds(() => [])('\u001b[31mred-and-more')).not.toContain('\u001b');
});

describe('toSafeJson()', () => {
  it('writes controls, direction overrides and invisible characters as escapes', () => {
    expect(toSafeJson('\u001b\u009b\u007f\u202e\u200b\u2028\u{e0041}')).toBe(
      '"\\u001b\\u009b\\u007f\\u202e\\u200b\\u2028\\udb40\\udc41"',
    );
  });

  it('leaves readable text readable', () => {
    expect(toSafeJson({ text: 'Grüße, 你好 👋 "x"\n' })).toBe('{"text":"Grüße, 你好 👋 \\"x\\"\\n"}');
  });

  it('indents where it is asked to', () => {
    expect(toSafeJson({ a: 1 }, 2)).toBe('{\n  "a": 1\n}');
  });

  it('means the same, and holds no control but the line ends of its layout', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.string({ unit: 'binary' }),
        fc.constantFrom(0, 2),
        (value, text, indent) => {
          const json = toSafeJson([value, text], indent);
          expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify([value, text])));
          expect(json.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
          if (indent === 0) expect(json).not.toContain('\n');
        },
      ),
    );
  });
});
