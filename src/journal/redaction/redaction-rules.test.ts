import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../contract/json.js';
import { KnownValues } from './known-values.js';
import { parseRedaction } from './redaction-rules.js';

const ARGS: JsonObject = {
  password: 'p',
  'a/b': 1,
  headers: { auth: 'x', list: [{ token: 1 }, { token: 2, name: 'n' }] },
};

/** The pointers of the values left out. */
function leftOut(patterns: boolean | readonly string[], tool = 'http_post'): readonly string[] {
  const found: string[] = [];
  parseRedaction(patterns)?.apply(tool, ARGS, (_, pointer) => {
    found.push(pointer);
    return '';
  });
  return found;
}

describe('parseRedaction()', () => {
  it.each<[readonly string[] | boolean, readonly string[]]>([
    [true, ['/password', '/a~1b', '/headers']],
    [false, []],
    [[], []],
    [['/password'], ['/password']],
    [['http_*/headers/auth'], ['/headers/auth']],
    [['bash/password'], []],
    [['*/a~1b'], ['/a~1b']],
    [['/headers/list/*/token'], ['/headers/list/0/token', '/headers/list/1/token']],
    [['/**/token'], ['/headers/list/0/token', '/headers/list/1/token']],
    [['/**'], ['/password', '/a~1b', '/headers']],
    [['/headers/list/1', '/headers/list/1/token'], ['/headers/list/1']],
  ])('%j leaves out %j', (patterns, expected) => {
    expect(leftOut(patterns)).toEqual(expected);
  });

  it('copies only the parts that change', () => {
    expect(parseRedaction(['/nothing'])?.apply('t', ARGS, () => '')).toBe(ARGS);
    const changed = parseRedaction(['/password'])?.apply('t', ARGS, () => '');
    expect(changed?.headers).toBe(ARGS.headers);
  });
});

describe('KnownValues', () => {
  it('hides every value at any place, each once', () => {
    const value = fc.string({
      minLength: 6,
      maxLength: 20,
      unit: fc.constantFrom(...'abcdeXYZ019-./"\\\n é'),
    });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 6 }), fc.string(), (values, between) => {
        const known = new KnownValues();
        for (const each of values) known.add(each);
        const sought = [...known.all()].filter((each) => values.includes(each));
        const hidden = known.hide(values.join(between));
        for (const each of sought) expect(hidden.replaceAll('[REDACTED]', '\0').includes(each)).toBe(false);
      }),
    );
  });

  it('hides short values only as whole words, and ordinary short words never', () => {
    const known = new KnownValues();
    known.add(['x9K2', 'main', 12, 471_199]);
    expect(known.hide('x9K2 ax9K2 main 12 471199 "x9K2"')).toBe(
      '[REDACTED] ax9K2 main 12 [REDACTED] "[REDACTED]"',
    );
  });

  it('hides bytes, and leaves those without a value unchanged', () => {
    const known = new KnownValues();
    known.add('geheim-ü');
    const plain = Buffer.from('nothing');
    expect(known.hideBytes(plain)).toBe(plain);
    expect(Buffer.from(known.hideBytes(Buffer.from('\xff geheim-ü'))).toString()).toBe('ÿ [REDACTED]');
  });
});
