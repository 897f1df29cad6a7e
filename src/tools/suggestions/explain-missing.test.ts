import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SHARE_OF_RUNS } from '../../testing/fixtures/share-of-runs.js';
import { diffLines, explainMissing } from './explain-missing.js';

describe('explainMissing()', () => {
  const FILE = 'import a\n\nfunction one() {\n\treturn "x";  \n}\n\nfunction two() {\n\treturn “y”;\n}\n';

  test.each<[string, string, string, string]>([
    [
      'line endings',
      FILE.replaceAll('\n', '\r\n'),
      'import a\n\nfunction one',
      'lines 1-3, but differs in line endings',
    ],
    ['indentation', FILE, 'function one() {\n  return "x";  \n}', 'lines 3-5, but differs in indentation'],
    ['indentation of the first line', FILE, '    return "x";', 'line 4, but differs in indentation'],
    ['trailing white space', FILE, '\treturn "x";\n}', 'lines 4-5, but differs in trailing white space'],
    ['spacing', FILE, 'function  two() {', 'line 7, but differs in spacing within lines'],
    ['blank lines', FILE, 'import a\nfunction one() {', 'lines 1-3, but differs in blank lines'],
    ['line breaks', FILE, 'function one()\n{', 'line 3, but differs in spacing within lines and line breaks'],
    ['quotes', FILE, '\treturn "y";', 'line 8, but differs in quotes, dashes or other look-alike characters'],
    [
      'a no-break space',
      'a\u00a0b c\n',
      'a b c',
      'line 1, but differs in quotes, dashes or other look-alike',
    ],
    ['two things', FILE, '  return "y";', 'characters and indentation'],
    ['accents', 'caf\u0065\u0301\n', 'caf\u00e9', 'line 1, but its accents'],
    ['escapes', FILE, 'import a\\n\\nfunction one', 'line 1 once its backslashes are taken for escapes'],
  ])('says that only %s differ', (_what, file, sought, message) => {
    expect(explainMissing(file, sought)).toContain(message);
  });

  test('says that there are further places', () => {
    expect(explainMissing('  a b\n\n\ta b\n', 'a  b')).toContain('line 1, and at other places, but');
  });

  test('shows the most similar part, by equal lines', () => {
    const said = explainMissing(FILE, 'function two() {\n\treturn z;\n}\n');
    expect(said).toBe(
      'The nearest is at lines 7-9. Looked for (-), in the file (+):\n function two() {\n-\treturn z;\n+\treturn “y”;\n }',
    );
  });

  test('shows the most similar part, by characters if no line is equal', () => {
    expect(explainMissing(FILE, 'funktion one() {')).toContain('The nearest is at line 3.');
  });

  test('says if no part is similar', () => {
    expect(explainMissing(FILE, 'SELECT 1 FROM t')).toBe('Nothing in the file is similar.');
    expect(explainMissing('', 'x')).toBe('Nothing in the file is similar.');
    expect(explainMissing(FILE, '   ')).toBe('Nothing in the file is similar.');
  });

  test('answers for any two texts, in a few lines', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', ' ', '\t', '\n', '\r', '“', '"', '\\', 'n', '\u0301'),
    });
    fc.assert(
      fc.property(text, text, (file, sought) => {
        expect(explainMissing(file, sought).length).toBeLessThan(20_000);
      }),
    );
  });

  test.each<[string, string]>([
    ['text', 'the quick brown fox jumps over the lazy dog\n'],
    ['empty lines', '\n'],
    ['blanks', ' '],
    ['one letter', 'a'],
    ['brackets', '}\n'],
  ])('handles megabytes of %s in a moment', (_what, unit) => {
    const file = unit.repeat((10_000_000 * SHARE_OF_RUNS) / unit.length);
    const started = performance.now();
    for (const sought of ['the quick brown fax\njumps', `${'a'.repeat(5000)}b`, '  }\n}\n x'])
      explainMissing(file, sought);
    expect(performance.now() - started).toBeLessThan(30_000 * SHARE_OF_RUNS);
  });
});

test('does not confuse bytes that are not text with the replacement character', () => {
  expect(explainMissing('a\nb\ufffdc\n', 'b\ufffdc')).toBe(
    'The \ufffd at line 2 stands for bytes that are not UTF-8: leave them out of the searched text.',
  );
});

describe('diffLines()', () => {
  test('leaves out equal lines far from every difference, and cuts long lines', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `l${index}`);
    const other = lines.map((line, index) => (index === 9 ? 'x'.repeat(500) : line));
    expect(diffLines(lines, other)).toBe(
      `...\n l7\n l8\n-l9\n+${'x'.repeat(160)}... (500 characters)\n l10\n l11\n...`,
    );
    const long = Array.from({ length: 1000 }, (_, index) => `${index}`);
    expect(diffLines(long, []).split('\n')).toHaveLength(41);
  });
});
