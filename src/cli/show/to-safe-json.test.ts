import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toSafeJson } from './to-safe-json.js';

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
