import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseGitLinks } from './parse-git-links.js';

const place = mkdtempSync(join(tmpdir(), 'git-index-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));
const names = ['a', 'b/c', 'b/cc', `deep/${'x'.repeat(300)}`.slice(0, 250), 'ü/ö', 'zz'];
const git = (args: readonly string[], cwd = place): void =>
  void execFileSync('git', args, { cwd, stdio: 'ignore' });
const index = (): Buffer => readFileSync(join(place, '.git/index'));
const addLink = (name: string, digits: number, cwd?: string): void =>
  git(['update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(digits)},${name}`], cwd);

beforeAll(() => {
  git(['init']);
  git(['update-index', '--add', '--cacheinfo', `100644,${'2'.repeat(40)},plain`]);
  for (const name of names) addLink(name, 40);
});

describe('parseGitLinks', () => {
  it.each(['2', '3', '4'])('reads version %s', (version) => {
    git(['update-index', `--index-version=${version}`]);
    // Uses the additional fields of version 3.
    git(['update-index', version === '3' ? '--skip-worktree' : '--no-skip-worktree', 'b/c']);
    expect(parseGitLinks(index(), 20)).toEqual(
      names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
  });

  it('reads an index with SHA-256', () => {
    const other = join(place, 'other');
    git(['init', '-q', '--object-format=sha256', other]);
    addLink('x', 64, other);
    expect(parseGitLinks(readFileSync(join(other, '.git/index')), 32)).toEqual(['x']);
  });

  it('finds nothing in a truncated file or another kind of file', () => {
    const whole = index();
    fc.assert(fc.property(fc.nat(40), (length) => parseGitLinks(whole.subarray(0, length), 20).length === 0));
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        (bytes) => parseGitLinks(Buffer.from(bytes), 20).length === 0,
      ),
    );
  });

  it('skips names that git does not accept', () => {
    git(['update-index', '--index-version=2']);
    const bytes = index();
    bytes.write('../x', bytes.indexOf('b/cc'), 'latin1');
    expect(parseGitLinks(bytes, 20)).toContain('b/c');
    expect(parseGitLinks(bytes, 20)).not.toContain('../x');
  });
});
