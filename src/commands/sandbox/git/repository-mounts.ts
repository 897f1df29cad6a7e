import { randomBytes } from 'node:crypto';
import { basename, dirname } from 'node:path';
import {
  directoryEntries,
  entryStat,
  moveToFreeName,
  realPath,
  removeDirectory,
} from '../../../platform/fs/fs-entry.js';
import { makeEmptyDirectory, makeEmptyFile, removeFile } from '../../../platform/fs/make-and-remove.js';
import { isWithin, type Mount, type MountHolder } from '../mount-holder.js';
import { readSmallFile } from './find-repositories.js';

export interface RepositoryMounts {
  readonly mounts: readonly Mount[];
  /**
   * Removes what a command has put where git would look for other hooks and settings. Nothing can be mounted there
   * while it runs: git takes an empty one for a broken repository. To be called while the command runs, too.
   */
  readonly takeAway: () => void;
  /** To be called when the command has ended: removes what is left of working trees that it has removed. */
  readonly tidy: () => void;
}

/**
 * Git's own directory can be written, or nothing could be committed; what makes git run programs cannot. It is mounted
 * over itself, so that it cannot be moved away and another one made in its place.
 * @param isOfAnother not its own working tree is inside the roots, but a linked one
 */
export function repositoryMounts(
  git: string,
  isOfAnother: boolean,
  roots: readonly string[],
  holder: MountHolder,
): RepositoryMounts {
  // No repository yet, or no more: who makes one of it would bring the hooks along.
  if (entryStat(`${git}/HEAD`) === undefined) {
    return { mounts: [holder.readOnly(git)], takeAway() {}, tidy() {} };
  }
  const places = [git, ...modulesIn(`${git}/modules`)];
  const fixed = [...withEach(places, FIXED), ...(isOfAnother ? withEach([git], OF_MAIN_TREE) : [])];
  // Nothing can be mounted on a link, which could be taken away.
  if (fixed.some((path) => entryStat(path)?.isSymbolicLink() === true)) {
    return { mounts: [holder.readOnly(git)], takeAway() {}, tidy() {} };
  }
  const trees = linkedTrees(git, roots, holder);
  const held = places.map((place) => holder.hold(place).at);
  // What is missing would be made.
  for (const place of held) {
    makeEmptyDirectory(`${place}/hooks`);
    makeEmptyFile(`${place}/config`);
    if (hasWorktreeConfig(place)) makeEmptyFile(`${place}/config.worktree`);
    // It has objects of its own: only a command can have said that they are elsewhere, and died with what started it.
    removeFile(`${place}/commondir`);
  }
  const there = fixed.filter((path) => entryStat(path) !== undefined);
  const missing = withEach([...held, ...trees.own], REDIRECTIONS).filter(
    (path) => entryStat(path) === undefined,
  );
  const [ownPlace] = held;
  const hasModules = entryStat(`${git}/modules`) !== undefined;
  return {
    mounts: [
      holder.writable(git),
      // No others can be made.
      ...(hasModules ? [holder.readOnly(`${git}/modules`)] : []),
      ...places.slice(1).map((place) => holder.writable(place)),
      ...there.map((path) => holder.readOnly(path)),
      ...trees.mounts,
    ],
    takeAway() {
      for (const path of missing) removeFile(path);
      if (!hasModules && ownPlace !== undefined) disableModules(ownPlace);
    },
    tidy: trees.tidy,
  };
}

/** Git reads `config.worktree` only then, and reads it as it reads `config`. */
function hasWorktreeConfig(place: string): boolean {
  return /worktreeconfig/i.test(readSmallFile(`${place}/config`));
}

/** The repositories of submodules that were not there before. */
function disableModules(git: string): void {
  if (entryStat(`${git}/modules`) === undefined) return;
  try {
    moveToFreeName(`${git}/modules`, `${git}/modules.disabled-${randomBytes(4).toString('hex')}`);
  } catch {
    // It has gone again.
  }
}

/** Hooks, and what can name programs: filters, pagers, a file system monitor, another directory that has hooks. */
const FIXED = ['hooks', 'config', 'config.worktree', 'commondir'];
/** Where a tree lies outside, its files are not seen, and would be taken for removed. */
const OF_MAIN_TREE = ['HEAD', 'index'];
const REDIRECTIONS = ['commondir', 'config.worktree'];

function withEach(places: readonly string[], names: readonly string[]): readonly string[] {
  return places.flatMap((place) => names.map((name) => `${place}/${name}`));
}

/** The repositories of submodules; a name may have slashes. */
export function modulesIn(path: string): readonly string[] {
  return directoriesIn(path).flatMap((module) =>
    entryStat(`${module}/HEAD`) === undefined
      ? modulesIn(module)
      : [module, ...modulesIn(`${module}/modules`)],
  );
}

function directoriesIn(path: string): readonly string[] {
  if (entryStat(path)?.isDirectory() !== true) return [];
  return directoryEntries(path)
    .filter(({ type }) => type === 'dir')
    .map(({ name }) => `${path}/${name}`);
}

/** What git keeps of a working tree that `git worktree` has made. */
interface LinkedTrees {
  readonly mounts: readonly Mount[];
  /** Directories of those inside the roots. */
  readonly own: readonly string[];
  /** Removes what is left of those that commands have removed. */
  readonly tidy: () => void;
}

/** What leads from it to the hooks and settings, and to the tree. */
const TREE_FILES = ['commondir', 'gitdir', 'config.worktree'];

/**
 * Git takes a tree for one that was removed when it does not see it, and tidies up. So of those outside of the roots the
 * file is shown that names the repository, and holds nothing else. Of one that is nowhere nothing needs to be kept.
 */
function linkedTrees(git: string, roots: readonly string[], holder: MountHolder): LinkedTrees {
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
    mounts: [...fixed.filter((path) => entryStat(path)?.isFile() === true), ...outside].map((path) =>
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
