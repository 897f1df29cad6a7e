import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { minimatch } from 'minimatch';
import { describe, expect, it } from 'vitest';
import { createDenyRules } from '../src/files/deny-rules.js';
import { isNegated, matchesParts, parseGlob } from '../src/patterns/glob.js';
import { buildAutomaton, matchesAutomaton } from '../src/patterns/groups.js';
import { parseSegment } from '../src/patterns/segment.js';
import { matchSequence, type Piece, RUN, takes } from '../src/patterns/wildcard.js';
import { outcome, question } from '../src/policy/fixtures/ask.js';
import { filterByPath, filterByRule } from '../src/search/file-filter.js';

/** A pattern, a path from a root, and whether it matches; lower case alone, as some users of patterns ignore case. */
const MATCHES: readonly (readonly [pattern: string, path: string, expected: boolean])[] = [
  ['a.txt', 'a.txt', true],
  ['a.txt', 'b.txt', false],
  ['./src//a.ts', 'src/a.ts', true],
  ['src/./a.ts', 'src/a.ts', true],
  ['*.ts', 'a.ts', true],
  ['*.ts', '.a.ts', true],
  ['test*', 'test-1', true],
  ['a*c', 'abbc', true],
  ['a*c', 'abb', false],
  ['a**c', 'abc', true],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/d/a.ts', false],
  ['src/**', 'src/d/a.ts', true],
  ['src/**/a.ts', 'src/a.ts', true],
  ['src/**/a.ts', 'src/d/e/a.ts', true],
  ['src/**/**/a.ts', 'src/d/a.ts', true],
  ['src/d/**/x/*.ts', 'src/d/e/x/a.ts', true],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['a?c', 'a😀c', true],
  ['[ab]1', 'b1', true],
  ['[ab]1', 'c1', false],
  ['[!ab]1', 'c1', true],
  ['[^ab]1', 'a1', false],
  ['[a-c]1', 'b1', true],
  ['[a-c-]1', '-1', true],
  ['[]a]', ']', true],
  ['[!]a]', 'b', true],
  ['[\\]]', ']', true],
  ['[[:digit:]x]1', '71', true],
  ['[[:alpha:]]1', 'ö1', true],
  ['[![:alpha:]]1', 'a1', false],
  ['[a{]', '{', true],
  ['{a,b}.{ts,js}', 'b.js', true],
  ['{a,b}.{ts,js}', 'c.js', false],
  ['{src,test}/a', 'test/a', true],
  ['f{1..3}', 'f2', true],
  ['{a}', 'a', true],
  ['{a}', '{a}', false],
  ['*.{key2}', 'x.key2', true],
  ['**/{sec}/**', 'd/sec/e', true],
  ['{**/*.key2}', 'd/x.key2', true],
  ['a{b,{c,d{e}}}', 'ade', true],
  ['a{b,{c,d{e}}}', 'ac', true],
  ['{{a,b},c}', 'b', true],
  ['\x24{a,b}', '\x24b', true],
  ['{[,}],b}', ',', true],
  ['{[,}],b}', 'b', true],
  ['a{,b}c', 'ac', true],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['\\{a,b\\}', '{a,b}', true],
  ['\\[id\\].ts', '[id].ts', true],
  ['(a).ts', '(a).ts', true],
  ['a|b', 'a|b', true],
  ['keys/@(a1|b2)', 'keys/a1', true],
  ['keys/@(a1|b2)', 'keys/c3', false],
  ['keys/\\@(a1|b2)', 'keys/@(a1|b2)', true],
  ['@(a|b)*.ts', 'b1.ts', true],
  ['@(a|*b)?', 'xxb1', true],
  ['x?(a|b)', 'x', true],
  ['x?(a|b)', 'xab', false],
  ['x+(a|b)', 'x', false],
  ['x+(a|b)', 'xabba', true],
  ['x*(a|b)', 'x', true],
  ['x*(a|b)', 'xabc', false],
  ['+(a|@(b|c)d)', 'acdbd', true],
  ['!(a)', 'b', true],
  ['!(a)', 'a', false],
  ['.env.!(example)', '.env.local', true],
  ['.env.!(example)', '.env.example', false],
  ['!(a|b).ts', 'c.ts', true],
  ['!(a|b).ts', 'a.ts', false],
  ['@([|)]|x)', ')', true],
];

const FLAWS: readonly (readonly [pattern: string, words: string])[] = [
  [' ', 'it is empty'],
  ['a\0', 'NUL'],
  ['a'.repeat(4097), 'longer than 4096'],
  [' a', 'begins or ends with a blank'],
  ['a.key ', 'begins or ends with a blank'],
  ['~/keys/**', '"~" is not expanded'],
  ['$HOME/keys/**', 'variables are not expanded'],
  ['\x24{HOME}/a', 'variables are not expanded'],
  ['keys\\a\\b', 'separated by "/"'],
  ['[a', 'a "[" is not closed'],
  ['[a/b]', 'a "[" is not closed'],
  ['{a,b', 'a "{" is not closed'],
  ['a}', 'a "}" was never opened'],
  ['a{}', 'the braces {} hold nothing'],
  [`${'{'.repeat(40)}a${'}'.repeat(40)}`, 'nested more than 32 deep'],
  ['+(a', 'a "(" is not closed'],
  ['@(a/b)', 'a "(" is not closed'],
  ['@()', 'the group @() is empty'],
  ['!(a|!(b))', 'a "!(" stands inside of another one'],
  [`${'@('.repeat(11)}a${')'.repeat(11)}`, 'nested more than 10 deep'],
  ['a\\', 'lone backslash'],
  ['a\\/b', 'lone backslash'],
  ['[[:alfa:]]', 'there is no class [:alfa:]'],
  ['[c-a]', 'the range c-a runs backwards'],
  ['a/../b', '".."'],
  ['{a,..}/b', '".."'],
  ['.', 'it names nothing'],
  ['{a,b}'.repeat(10), 'more than 1000 alternatives'],
];

/** Every reader of globs: whether it matches this path with this pattern. */
const USERS: Readonly<Record<string, (pattern: string, path: string) => boolean>> = {
  'the language itself': (pattern, path) =>
    parseGlob(pattern).some(({ parts }) => matchesParts(parts, path.split('/'))),
  'deny patterns of the sandbox': (pattern, path) =>
    createDenyRules({
      roots: ['/w'],
      denied: { builtin: [], given: [pattern] },
      deniedWrite: { builtin: [], given: [] },
    }).deniedBy(`/w/${path}`, 'read') !== undefined,
  'a policy rule that denies': (pattern, path) =>
    outcome([{ decision: 'deny', path: pattern }], writes(path)) === 'policy_denied',
  'a policy rule that allows': (pattern, path) =>
    outcome([{ decision: 'allow', path: pattern }], writes(path)) === 'run',
  'the tool glob': (pattern, path) => admits(filterByPath(pattern, true), path),
  'the filter of the tool grep': (pattern, path) => admits(filterByRule(pattern, true, true), path),
};

function writes(path: string) {
  return question('edit', [{ kind: 'write', path }], { roots: ['/w'], places: [{ at: `/w/${path}` }] });
}

function admits(filter: ReturnType<typeof filterByPath>, path: string): boolean {
  const slash = path.lastIndexOf('/');
  return filter.admits(path.slice(0, Math.max(0, slash)))?.(path.slice(slash + 1)) ?? false;
}

describe.each(Object.entries(USERS))('%s', (_, matches) => {
  it.each(MATCHES)('%j stands for %j: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  it.each(FLAWS.map(([pattern, words]) => [words, pattern] as const))(
    'refuses a pattern: %s (%#)',
    (words, pattern) => {
      expect(() => matches(pattern, 'x')).toThrow(words);
    },
  );
});

describe('the language', () => {
  it('is that of the library, where that means the same', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '.',
      '*',
      '?',
      '[ab]',
      '[!a]',
      '[[:digit:]]',
      '{a,b}',
      '@(a|b*)',
      '?(a)',
      '+(b|aa)',
      '*(a|.)',
      '!(a|b)',
      '1',
    );
    const part = fc.oneof(
      { weight: 1, arbitrary: fc.constant('**') },
      {
        weight: 4,
        arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('')),
      },
    );
    const pattern = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    const name = fc.stringMatching(/^[ab.1]{1,4}$/);
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
    fc.assert(
      fc.property(pattern, path, (text, at) => {
        fc.pre(!isNegated(text));
        // Here `.` and `..` are not names; there, a `!(...)` before other parts is compared with the whole rest.
        fc.pre([text, at].every((each) => each.split('/').every((one) => one !== '.' && one !== '..')));
        fc.pre(!text.endsWith('**') && !/!\([^)]*\)[^/]/.test(text));
        const expected = minimatch(at, text, {
          dot: true,
          nonegate: true,
          nocomment: true,
          platform: 'linux',
        });
        expect([text, at, USERS['the language itself']?.(text, at)]).toEqual([text, at, expected]);
      }),
      { numRuns: 5000 },
    );
  });

  it('denies at least what the library matches, whatever stands behind "!(...)"', () => {
    const piece = fc.constantFrom('a', 'b', '*', '?', '@(a|b*)', '!(a|b)', '!(*a)', '+(!(b)|a)');
    const pattern = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(pattern, fc.stringMatching(/^[abA]{1,5}$/), (text, name) => {
        fc.pre(!isNegated(text));
        const options = {
          dot: true,
          nocase: true,
          nonegate: true,
          nocomment: true,
          platform: 'linux',
        } as const;
        fc.pre(minimatch(name, text, options));
        expect([text, name, USERS['deny patterns of the sandbox']?.(text, name)]).toEqual([text, name, true]);
      }),
      { numRuns: 2000 },
    );
  });

  it('needs a bounded number of looks at a name, whatever the pattern', () => {
    const length = 250;
    const looksOf = (match: (characters: ArrayLike<string>) => boolean): number => {
      let looks = 0;
      const characters = new Proxy(Array.from('a'.repeat(length)), {
        get(target, key, receiver) {
          if (typeof key === 'string' && /^\d+$/.test(key)) looks++;
          return Reflect.get(target, key, receiver);
        },
      });
      expect(match(characters)).toBe(false);
      return looks;
    };
    for (const text of [
      `${'*(a)'.repeat(200)}b`,
      '*(*(*(*(*(a|aa)|a)|a)|a))b',
      `${'+(a|*a*)'.repeat(100)}b`,
    ]) {
      const automaton = buildAutomaton(parseSegment(text).pieces);
      expect(looksOf((characters) => matchesAutomaton(automaton, characters))).toBeLessThanOrEqual(
        text.length * (length + 1),
      );
    }
    const excepting = '!(*a*)*(a)!(a*a)b';
    const automaton = buildAutomaton(parseSegment(excepting).pieces);
    expect(looksOf((characters) => matchesAutomaton(automaton, characters))).toBeLessThanOrEqual(
      excepting.length * (length + 1) ** 2,
    );
    const { pieces } = parseSegment(`${'*a'.repeat(200)}b`);
    const isRun = (piece: Piece): boolean => piece === RUN;
    expect(looksOf((characters) => matchSequence(pieces, characters, isRun, takes))).toBeLessThanOrEqual(
      pieces.length * (length + 1),
    );
  });

  it('is shown in docs/patterns.md by rows of this table', () => {
    const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'patterns.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$/gm)];
    expect(rows.length).toBeGreaterThan(10);
    const names = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
    for (const [, pattern = '', yes, no] of rows) {
      const text = pattern.replaceAll('\\|', '|');
      for (const name of names(yes))
        expect([text, name, USERS['the language itself']?.(text, name)]).toEqual([text, name, true]);
      for (const name of names(no))
        expect([text, name, USERS['the language itself']?.(text, name)]).toEqual([text, name, false]);
    }
  });
});
