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

/** Otherwise `git switch NAME` for a branch of a remote, and `git push`, store an upstream in `config`, which commands cannot change. */
export const LEAVES_SETTINGS: Readonly<Record<string, string>> = {
  'branch.autoSetupMerge': 'false',
  'push.autoSetupRemote': 'false',
};

export interface RepositoryMounts {
  readonly mounts: readonly Mount[];
  /**
   * Removes files that a command put where git would look for other hooks and settings. Nothing can be
   * mounted there while the command runs, because git takes an empty file for a broken repository. Call it
   * during the command too.
   */
  readonly takeAway: () => void;
  /** Call it when the command has ended: removes the remains of working trees that it removed. */
  readonly tidy: () => void;
}

/**
 * Mounts git's own directory: it is writable, because otherwise nothing could be committed, except for the
 * parts that make git run programs. It is mounted over itself, so that a command cannot move it away and
 * create another one.
 * @param isOfAnother its main working tree is not inside the roots, but a linked one is
 */
export function repositoryMounts(
  git: string,
  isOfAnother: boolean,
  roots: readonly string[],
  holder: MountHolder,
): RepositoryMounts {
  // Not a repository, or no longer one. A program that makes it one again would bring its own hooks.
  if (entryStat(`${git}/HEAD`) === undefined) {
    return { mounts: [holder.readOnly(git)], takeAway() {}, tidy() {} };
  }
  const places = [git, ...modulesIn(`${git}/modules`)];
  const fixed = [...withEach(places, FIXED), ...(isOfAnother ? withEach([git], OF_MAIN_TREE) : [])];
  // Nothing can be mounted on a link, and a command could remove the link.
  if (fixed.some((path) => entryStat(path)?.isSymbolicLink() === true)) {
    return { mounts: [holder.readOnly(git)], takeAway() {}, tidy() {} };
  }
  const trees = linkedTrees(git, roots, holder);
  const held = places.map((place) => holder.hold(place).at);
  // Otherwise a command could create the missing files.
  for (const place of held) {
    makeEmptyDirectory(`${place}/hooks`);
    makeEmptyFile(`${place}/config`);
    if (hasWorktreeConfig(place)) makeEmptyFile(`${place}/config.worktree`);
    // It has its own objects, so a command wrote this file and died together with its sandbox.
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
      // No others can be created.
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

/** Git reads `config.worktree` only with that setting, and treats it like `config`. */
function hasWorktreeConfig(place: string): boolean {
  return /worktreeconfig/i.test(readSmallFile(`${place}/config`));
}

/** Disables repositories of submodules that did not exist before. */
function disableModules(git: string): void {
  if (entryStat(`${git}/modules`) === undefined) return;
  try {
    moveToFreeName(`${git}/modules`, `${git}/modules.disabled-${randomBytes(4).toString('hex')}`);
  } catch {
    // It was removed in the meantime.
  }
}

/**
 * Hooks, and files that can name programs: filters, pagers, a file system monitor, another hooks directory.
 */
const FIXED = ['hooks', 'config', 'config.worktree', 'commondir'];
/** The files of a tree outside the roots are not visible, and git would treat them as removed. */
const OF_MAIN_TREE = ['HEAD', 'index'];
const REDIRECTIONS = ['commondir', 'config.worktree'];

function withEach(places: readonly string[], names: readonly string[]): readonly string[] {
  return places.flatMap((place) => names.map((name) => `${place}/${name}`));
}

/** The repositories of submodules. A name may contain slashes. */
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

/** The data that git keeps about working trees of `git worktree`. */
interface LinkedTrees {
  readonly mounts: readonly Mount[];
  /** The directories of trees inside the roots. */
  readonly own: readonly string[];
  /** Removes the remains of trees that commands have removed. */
  readonly tidy: () => void;
}

/** Files that lead to the hooks, the settings and the tree. */
const TREE_FILES = ['commondir', 'gitdir', 'config.worktree'];

/**
 * Git treats a tree that it does not see as removed, and cleans up its data. So for each tree outside the
 * roots, only the file that names the repository is shown. The data of a tree that exists nowhere need not be
 * kept.
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

/** Otherwise it is another file, with the name written into it to make it visible. */
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
    // The directory is not empty.
  }
}
