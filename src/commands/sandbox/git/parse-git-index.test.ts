import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseGitIndex } from './parse-git-index.js';

const place = mkdtempSync(join(tmpdir(), 'git-index-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));
const names = ['a', 'a.txt', 'b/c', 'b/cc', `deep/${'x'.repeat(300)}`.slice(0, 250), 'ü/ö', 'zz'];
const git = (...args: string[]): void => void execFileSync('git', args, { cwd: place, stdio: 'ignore' });
const index = (): Buffer => readFileSync(join(place, '.git/index'));
const all = (): true => true;

beforeAll(() => {
  git('init');
  for (const [at, name] of names.entries()) {
    mkdirSync(join(place, name, '..'), { recursive: true });
    writeFileSync(join(place, name), 'x'.repeat(at));
  }
  chmodSync(join(place, 'zz'), 0o755);
  symlinkSync('a', join(place, 'link'));
  git('add', '-A');
});

describe('parseGitIndex', () => {
  it.each(['2', '3', '4'])('reads version %s', (version) => {
    git('update-index', `--index-version=${version}`);
    // Makes use of what version 3 has more.
    git('update-index', version === '3' ? '--skip-worktree' : '--no-skip-worktree', 'b/c');
    const entries = parseGitIndex(index(), 20, all);
    expect(entries?.map(({ path }) => path)).toEqual(
      names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    for (const { path, size, modifiedSeconds, isExecutable } of entries ?? []) {
      const stat = lstatSync(join(place, path));
      expect([size, modifiedSeconds, isExecutable]).toEqual([
        stat.size,
        Math.floor(stat.mtimeMs / 1000),
        path === 'zz',
      ]);
    }
    expect(parseGitIndex(index(), 20, (path) => path === 'zz')).toHaveLength(1);
  });

  it('reads one of SHA-256', () => {
    const other = join(place, 'other');
    execFileSync('git', ['init', '-q', '--object-format=sha256', other]);
    writeFileSync(join(other, 'x'), 'y');
    execFileSync('git', ['add', 'x'], { cwd: other });
    expect(parseGitIndex(readFileSync(join(other, '.git/index')), 32, all)).toMatchObject([
      { path: 'x', size: 1 },
    ]);
  });

  it('does not know of one that is split, cut or something else', () => {
    const whole = index();
    fc.assert(
      fc.property(
        fc.nat(whole.length - 21),
        (length) => parseGitIndex(whole.subarray(0, length), 20, all) === undefined,
      ),
    );
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        (bytes) => parseGitIndex(Buffer.from(bytes), 20, all) === undefined,
      ),
    );
    git('update-index', '--split-index');
    expect(parseGitIndex(index(), 20, all)).toBeUndefined();
    git('update-index', '--no-split-index');
  });

  it('passes over names that git does not take', () => {
    git('update-index', '--index-version=2');
    const bytes = index();
    bytes.write('../x', bytes.indexOf('b/cc'), 'latin1');
    expect(parseGitIndex(bytes, 20, all)?.map(({ path }) => path)).not.toContain('../x');
  });
});
