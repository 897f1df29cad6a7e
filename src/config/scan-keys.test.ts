import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { createPlaceFinder } from './config-problem.js';
import { type KeyNode, scanKeys } from './scan-keys.js';

describe('scanKeys()', () => {
  it.each([
    ['', ''],
    ['a = 1', 'a@1:1'],
    ['# a = 1\n  b=2 # c = 3', 'b@2:3'],
    ['a.b . "c d".\'e\' = 1', 'a@1:1 a.b@1:3 a.b.c d@1:7 a.b.c d.e@1:13'],
    ['[a]\nb = 1\n[a.c]\nd = 1', 'a@1:2 a.b@2:1 a.c@3:4 a.c.d@4:1'],
    [
      '[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3',
      'a@1:3 a.0@1:3 a.0.b@2:1 a.1@3:3 a.1.b@4:1 a.1.c@5:4 a.1.c.d@6:1',
    ],
    ['[[ a . b ]]\nc = 1', 'a@1:4 a.b@1:8 a.b.0@1:8 a.b.0.c@2:1'],
    [
      'a = { b = 1, c.d = [ 2, { e = 3 } ] }',
      'a@1:1 a.b@1:7 a.c@1:14 a.c.d@1:16 a.c.d.0@1:22 a.c.d.1@1:25 a.c.d.1.e@1:27',
    ],
    ['a = [\n  1, # [b]\n  2,\n]\nb = 1', 'a@1:1 a.0@2:3 a.1@3:3 b@5:1'],
    ['a = """\n[x]\ny = 1\n\\""" "" ""x"""""\nb = 1', 'a@1:1 b@5:1'],
    ["a = '''\n[x]\n\\'''\nb = 1", 'a@1:1 b@4:1'],
    ["a = ''''x'''''\nb = 1", 'a@1:1 b@2:1'],
    ['a = "x\\"]#\\\\"\nb = \'x\\\'\nc = 1', 'a@1:1 b@2:1 c@3:1'],
    ['"\\u0061" = 1\n"" = 2', 'a@1:1 @2:1'],
    ['a = 1979-05-27 07:32:00 # b = 1\nc = 1', 'a@1:1 c@2:1'],
    ['[a]\r\nb = 1\r\n\r\n[c]\r\nd = 1', 'a@1:2 a.b@2:1 c@4:2 c.d@5:1'],
    ['[a.b]\n[a]\nc = 1', 'a@1:2 a.b@1:4 a.c@3:1'],
    ['a = []\nb = {}\nc = [[], [[]]]', 'a@1:1 b@2:1 c@3:1 c.0@3:6 c.1@3:10 c.1.0@3:11'],
  ])('finds the keys of %j', (text, places) => {
    parse(text);
    expect(placesIn(text).join(' ')).toBe(places);
  });

  it('sees the very keys that the parser sees, and nothing else', () => {
    fc.assert(
      fc.property(DOCUMENT, (document) => {
        const text = stringify(document);
        expect(shapeOfNode(scanKeys(text))).toEqual(shapeOfValue(parse(text)));
      }),
    );
  });

  it('sees them in scraps of TOML too, where the parser accepts these', () => {
    let accepted = 0;
    fc.assert(
      fc.property(SCRAPS, (text) => {
        const value = parsed(text);
        if (value === undefined) return;
        accepted++;
        expect(shapeOfNode(scanKeys(text))).toEqual(shapeOfValue(value));
      }),
      { numRuns: 5000 },
    );
    expect(accepted).toBeGreaterThan(50);
  });

  it('takes a megabyte of a key, of a string and of keys', () => {
    for (const text of [
      `${'a.'.repeat(500_000)}a = 1`,
      `a = """${'x"'.repeat(500_000)}"""\nb = 1`,
      'a = 1 #\n'.repeat(120_000),
      `a = [${'1,'.repeat(500_000)}]`,
    ]) {
      expect(scanKeys(text).keys.has('a')).toBe(true);
    }
  });
});

/** `path@line:column` of every node, in the order of the text. */
function placesIn(text: string): string[] {
  const placeOf = createPlaceFinder(text);
  const places: string[] = [];
  const visit = (node: KeyNode, path: readonly (string | number)[]): void => {
    const { line, column } = placeOf(path);
    if (path.length > 0) places.push(`${path.join('.')}@${line}:${column}`);
    for (const [name, child] of node.keys) visit(child, [...path, name]);
    for (const [index, child] of node.elements.entries()) visit(child, [...path, index]);
  };
  visit(scanKeys(text), []);
  return places;
}

function shapeOfNode(node: KeyNode): unknown {
  if (node.elements.length > 0) return node.elements.map(shapeOfNode);
  return Object.fromEntries([...node.keys].map(([name, child]) => [name, shapeOfNode(child)]));
}

/** The keys and elements of a value; `{}` for a value without any. */
function shapeOfValue(value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0) return value.map(shapeOfValue);
  if (typeof value !== 'object' || value === null || value instanceof Date) return {};
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shapeOfValue(item)]));
}

const KEY = fc
  .oneof(fc.stringMatching(/^[a-z_-]{1,4}$/), fc.string({ unit: 'grapheme' }), fc.string())
  .filter((name) => name !== '__proto__' && isWellFormed(name));
const TEXT = fc.string({ unit: 'grapheme' }).filter(isWellFormed);
const { DOCUMENT } = fc.letrec<{ DOCUMENT: Record<string, unknown>; VALUE: unknown }>((tie) => ({
  VALUE: fc.oneof(
    { depthSize: 'small' },
    TEXT,
    fc.integer(),
    fc.boolean(),
    fc.constantFrom('"""', "'''", '[x]', '# no', '}', '\\', '\n[a]\nb=1\n', 'a = "b"'),
    fc.array(tie('VALUE'), { maxLength: 4 }),
    fc.array(tie('DOCUMENT'), { maxLength: 3 }),
    tie('DOCUMENT'),
  ),
  DOCUMENT: fc.dictionary(KEY, tie('VALUE'), { maxKeys: 5 }),
}));
const SCRAPS = fc
  .array(
    fc.constantFrom(
      ...['a = 1', 'b.c = "]"', '[a]', '[[a]]', '[a.b]', '# "', 'c = {d = 1, e.f = [1]}', '', '[[a.c]]'],
      ...['g = [', ']', 'g = [[1],', '{h = 2}]', 'i = "\\""', '"a".b = \'#\'', 'j = [[], {k = 1}]'],
      ...[
        'l = """',
        '"""',
        "m = '''",
        "'''",
        '""" # x',
        '\\"""',
        "n = 'a\\'",
        'o = { # p',
        '}',
        'q = 1 # [r]',
      ],
    ),
    { maxLength: 6 },
  )
  .map((lines) => lines.join('\n'));

// UTF-8 cannot represent a lone surrogate.
function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
