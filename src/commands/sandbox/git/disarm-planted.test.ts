import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { disarmPlanted } from './disarm-planted.js';

let root: string;
let tree: string;
let made: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'disarm-planted-')));
  [tree, made] = [join(root, 'tree'), join(root, '.git/worktrees/tree')];
  execFileSync('git', ['init', '-q', root]);
  for (const path of [tree, made]) mkdirSync(path, { recursive: true });
  writeFileSync(join(made, 'gitdir'), `${tree}/.git\n`);
  writeFileSync(join(tree, '.git'), `gitdir: ${made}\n`);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Whether the `.git` of the working tree was renamed. */
function isDisarmed(isRunning: boolean): boolean {
  const said = disarmPlanted(join(tree, '.git'), new Set([join(root, '.git')]), isRunning);
  expect(existsSync(join(tree, '.git.disabled'))).toBe(said);
  return said;
}

describe('disarmPlanted() of a working tree that git is still creating', () => {
  const HALF_MADE: Readonly<Record<string, () => void>> = {
    'nothing in its file `.git`': () => writeFileSync(join(tree, '.git'), ''),
    'no commondir': () => {},
    'nothing in commondir': () => writeFileSync(join(made, 'commondir'), ''),
  };

  it.each(Object.entries(HALF_MADE))('leaves it alone while the command runs: %s', (_, make) => {
    make();
    expect(isDisarmed(true)).toBe(false);
    expect(isDisarmed(false)).toBe(true);
  });

  const PLANTED: Readonly<Record<string, () => void>> = {
    'a repository of its own': () => mkdirSync(join(made, 'objects')),
    'another repository': () => writeFileSync(join(made, 'commondir'), '../../../other\n'),
    'settings that run programs': () =>
      writeFileSync(join(made, 'config.worktree'), '[core]\n\tfsmonitor = evil\n'),
  };

  it.each(Object.entries(PLANTED))(
    'disarms a directory that only looks like a working tree of the repository: %s',
    (_, plant) => {
      plant();
      expect(isDisarmed(true)).toBe(true);
    },
  );

  it('leaves a complete one alone', () => {
    writeFileSync(join(made, 'commondir'), '../..\n');
    expect([isDisarmed(true), isDisarmed(false)]).toEqual([false, false]);
  });
});
