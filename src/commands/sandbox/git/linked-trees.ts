import { basename, dirname } from 'node:path';
import { directoryEntries, entryStat, realPath, removeDirectory } from '../../../platform/fs-entry.js';
import { removeFile } from '../../../platform/make-empty.js';
import { isWithin } from '../is-within.js';
import type { MountHolder } from '../mount-holder.js';
import { readSmallFile } from './find-repositories.js';

/** What git keeps of a working tree that `git worktree` has made. */
export interface LinkedTrees {
  readonly mounts: readonly string[];
  /** Directories of those inside the roots. */
  readonly own: readonly string[];
  /** Removes what is left of those that commands have removed. */
  readonly tidy: () => void;
}

/** What leads from it to the hooks and settings, and to the tree. */
export const TREE_FILES = ['commondir', 'gitdir', 'config.worktree'];

/**
 * Git takes a tree for one that was removed when it does not see it, and tidies up. So of those outside of the roots the
 * file is shown that names the repository, and holds nothing else. Of one that is nowhere nothing needs to be kept.
 */
export function linkedTrees(git: string, roots: readonly string[], holder: MountHolder): LinkedTrees {
  const all = treesOf(git).map((directory) => ({ directory, file: realPath(treeFile(directory)) }));
  const living = all.filter(({ directory, file }) => file !== undefined && pointsTo(file, directory));
  const isInside = (file: string): boolean => roots.some((root) => isWithin(file, root));
  const outside = living.flatMap(({ file }) => (file === undefined || isInside(file) ? [] : [file]));
  const own = living
    .filter(({ file }) => file !== undefined && isInside(file))
    .map(({ directory }) => directory);
  const fixed = living.flatMap(({ directory }) => TREE_FILES.map((name) => `${directory}/${name}`));
  const held = own.map((directory) => ({ name: basename(directory), at: holder.hold(directory).at }));
  const parent = held.length === 0 ? undefined : holder.hold(`${git}/worktrees`).at;
  return {
    mounts: [...fixed.filter((path) => entryStat(path)?.isFile() === true), ...outside].flatMap((path) =>
      holder.readOnly(path),
    ),
    own: held.map(({ at }) => at),
    tidy() {
      for (const { name, at } of held)
        if (entryStat(`${at}/HEAD`) === undefined) remove(at, `${parent}/${name}`);
    },
  };
}

function treesOf(git: string): readonly string[] {
  const path = `${git}/worktrees`;
  if (entryStat(path)?.isDirectory() !== true) return [];
  return directoryEntries(path)
    .filter(({ type }) => type === 'dir')
    .map(({ name }) => `${path}/${name}`);
}

function treeFile(directory: string): string {
  const named = readSmallFile(`${directory}/gitdir`).trim();
  return named.startsWith('/') ? named : `${directory}/${named}`;
}

/** Else it is some other file, and its name was written there to have it shown. */
function pointsTo(file: string, directory: string): boolean {
  const [, named = ''] = /^gitdir: ([^\n]+)\n?$/.exec(readSmallFile(file)) ?? [];
  const path = named.startsWith('/') ? named : `${dirname(file)}/${named}`;
  return basename(file) === '.git' && realPath(path) === directory;
}

function remove(at: string, path: string): void {
  for (const name of TREE_FILES) removeFile(`${at}/${name}`);
  try {
    removeDirectory(path);
  } catch {
    // Something else is left in it.
  }
}
