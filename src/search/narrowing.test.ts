import fc from 'fast-check';
import { minimatch } from 'minimatch';
import { describe, expect, it } from 'vitest';
import { parsePathPattern } from './path-matcher.js';
import { excludeGlobs, narrowNames } from './ripgrep-globs.js';

describe('narrowNames', () => {
  const globsFor = (pattern: string): string[] =>
    narrowNames(parsePathPattern(pattern)).flatMap((arg) => /^toolexec:(.*)$/.exec(arg)?.[1] ?? []);

  it.each([
    ['**/*.ts', ['*.ts']],
    ['src/{a,b}*.{js,jsx}', ['a*.js', 'a*.jsx', 'b*.js', 'b*.jsx']],
    ['x/file?[ab].md', ['file*.md']],
    ['**/a b!.ts', ['a*b*.ts']],
    ['src/**', []],
    ['**/{*.ts,*}', []],
  ])('%s: %j', (pattern, globs) => expect(globsFor(pattern)).toEqual(globs));

  it('leaves out nothing that matches', () => {
    const piece = fc.constantFrom(
      'a',
      'é',
      '*',
      '?',
      '[ab]',
      '[!a]',
      'b.',
      ' ',
      '\\{',
      '@(a|b)',
      '!(a)',
      '\\*',
      ',',
    );
    const pattern = fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(pattern, fc.stringMatching(/^[abé. {*,]{1,6}$/), (text, name) => {
        if (text.trim() !== text || text === '' || /^!(?!\()/.test(text) || name === '.' || name === '..')
          return;
        const globs = globsFor(text);
        const isMeant = minimatch(name, text, { dot: true, nonegate: true, nocomment: true });
        if (globs.length === 0 || !isMeant) return;
        expect(globs.some((glob) => minimatch(name, glob, { dot: true, nobrace: true }))).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('excludeGlobs', () => {
  const place = { fromTop: ['w', 'Proj', 'sub'], fromRoot: ['sub'] };

  it.each([
    ['**/.ssh/**', ['!/**/.ssh']],
    ['*.pem', ['!/**/*.pem']],
    ['**/.kube/config', ['!/**/.kube/config', '!/.kube/config']],
    ['sub/secret.txt', ['!/secret.txt']],
    ['SUB/secret.txt', ['!/secret.txt']],
    ['other/secret.txt', []],
    ['/w/proj/sub/a/*', ['!/a/*']],
    ['/etc/passwd*', []],
    ['{a,b}.txt', ['!/**/a.txt', '!/**/b.txt']],
    ['a\\*b', ['!/**/a[*]b']],
    ['**/.env.!(example)', []],
    ['[ab].txt', []],
    ['sub', ['!/**/sub']],
    ['sub/**', []],
    ['sub/x/**', ['!/x']],
    ['x/**', []],
    ['**', ['!/**/**']],
  ])('%s: %j', (pattern, globs) => expect(excludeGlobs([pattern], place).sort()).toEqual([...globs].sort()));
});
