import { describe, expect, it } from 'vitest';
import { isJsonObjectText } from './is-json-object-text.js';

describe('isJsonObjectText (D061)', () => {
  it.each(['{}', '{ "b": 1,\n  "a" : 2 }', ' \t\r\n{"a":[1,{"b":null}]}\n', '{"a":"\\u001b[31m\\/é"}'])(
    'takes %j',
    (text) => {
      expect(isJsonObjectText(text)).toBe(true);
    },
  );

  it.each([
    '',
    '[1,2]',
    '"{}"',
    'null',
    '42',
    '{"a":1',
    '{"a":1} trailing',
    "{'a':1}",
    '{a:1}',
    '{"a":1,}',
    '{"a":NaN}',
    '\ufeff{}',
    '\u00a0{}',
    'failed: {"a":1}',
  ])('refuses %j', (text) => {
    expect(isJsonObjectText(text)).toBe(false);
  });

  it('answers for text nested deeper than any stack', () => {
    expect(isJsonObjectText('{"a":'.repeat(200_000))).toBe(false);
  });
});
