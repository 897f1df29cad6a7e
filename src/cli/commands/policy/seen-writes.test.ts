import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LaterPlace } from '../../later-place.js';
import { laterBelowOf } from './later-below.js';
import { type SeenChanges, type SeenWrites, writesFor } from './seen-writes.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'toolexec-seen-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
}

const changes = (
  created: readonly string[],
  modified: readonly string[] = [],
  deleted: readonly string[] = [],
) => ({ created, modified, deleted });

function seen(...all: readonly SeenChanges[]): SeenWrites {
  const place = new LaterPlace({ root: [root] });
  return writesFor(all, place, laterBelowOf(place));
}

const patterns = (...created: readonly string[]): readonly string[] => seen(changes(created)).patterns;

describe('what was seen to change, as patterns', () => {
  it('is nothing where nothing changed', () => {
    expect(seen(changes([]))).toEqual({ patterns: [], laterCode: [], deleted: [], unnamed: [] });
  });

  it('is the file, or the directory that was made or in which several changed', () => {
    expect(patterns('log', 'src/gen/a.ts')).toEqual(['log', 'src/gen/a.ts']);
    expect(patterns('build/', 'build/a.o', 'build/sub/', 'build/sub/b.o')).toEqual(['build/**']);
    expect(patterns('dist/a.js', 'dist/b.js', 'README')).toEqual(['dist/**', 'README']);
    expect(patterns('empty/')).toEqual(['empty/**']);
    expect(patterns('/other/out/', '/other/out/a', '/other/b')).toEqual(['/other/out/**', '/other/b']);
  });

  it('is put together from all calls', () => {
    expect(seen(changes(['out/a']), changes([], ['out/b'], ['log'])).patterns).toEqual(['out/**', 'log']);
    expect(seen(changes(['out/a']), changes(['out/a'])).patterns).toEqual(['out/a']);
  });

  it('is a dependency folder as a whole', () => {
    write('node_modules/x/package.json', 'node_modules/x/Makefile');
    expect(patterns('node_modules/x/index.js', 'package-lock.json')).toEqual([
      'node_modules/**',
      'package-lock.json',
    ]);
  });

  it("is git's objects as a whole, even if only two were written", () => {
    const objects = ['45', 'd1'].flatMap((name) => [`.git/objects/${name}/`, `.git/objects/${name}/x`]);
    expect(patterns('.git/index', '.git/objects/99/x', ...objects)).toEqual([
      '.git/objects/**',
      '.git/index',
    ]);
  });

  it("is git's objects as a whole, and never its hooks", () => {
    const objects = ['45', 'd1', 'df'].flatMap((name) => [`.git/objects/${name}/`, `.git/objects/${name}/x`]);
    expect(patterns('.git/index', '.git/COMMIT_EDITMSG', ...objects)).toEqual([
      '.git/objects/**',
      '.git/COMMIT_EDITMSG',
      '.git/index',
    ]);
  });

  it('never covers a directory that holds what runs later, or is made for it', () => {
    write('tools/Makefile', 'ok/deep/er/justfile');
    expect(patterns('tools/a', 'tools/b')).toEqual(['tools/a', 'tools/b']);
    expect(patterns('ok/a', 'ok/b', 'ok/deep/x', 'ok/deep/y')).toEqual([
      ...['ok/a', 'ok/b', 'ok/deep/x', 'ok/deep/y'],
    ]);
    expect(patterns('.github/', '.github/CODEOWNERS', '.github/x')).toEqual([
      '.github/CODEOWNERS',
      '.github/x',
    ]);
    expect(patterns('.github/ISSUES/', '.github/ISSUES/a')).toEqual(['.github/ISSUES/**']);
    expect(patterns('.git/a', '.git/b', '.git/c')).toEqual(['.git/a', '.git/b', '.git/c']);
  });

  it('names what runs later and was changed itself, there alone', () => {
    const found = seen(changes(['.circleci/', '.circleci/config.yml'], ['Makefile', 'sub/package.json']));
    expect(found.laterCode).toEqual(['.circleci/config.yml', 'Makefile', 'sub/package.json']);
    expect(found.patterns).toEqual(['.circleci/config.yml', `${root}/Makefile`, 'sub/package.json']);
    write('build/Makefile');
    const built = seen(changes(['build/', 'build/Makefile', 'build/a']));
    expect(built).toMatchObject({ patterns: ['build/**'], laterCode: ['build/Makefile'] });
  });

  it('tells what was removed, and names that no pattern can hold', () => {
    const found = seen(changes(['a\\u{200B}b', 'x*y', '~z'], [], ['old/', 'old/a']));
    expect(found.deleted).toEqual(['old/a']);
    expect(found.unnamed).toEqual(['a\\u{200B}b']);
    expect(found.patterns).toEqual(['old/a', 'x\\*y', './~z']);
  });
});
