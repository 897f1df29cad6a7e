import { directoryEntries, entryStat } from '../../../platform/fs-entry.js';
import { makeEmptyDirectory, makeEmptyFile, removeFile } from '../../../platform/make-empty.js';
import type { MountHolder } from '../mount-holder.js';
import { linkedTrees } from './linked-trees.js';

export interface RepositoryMounts {
  readonly mounts: readonly string[];
  /**
   * Removes what a command has put where git would look for other hooks and settings. Nothing can stand in for that
   * while it runs: git takes an empty one for a broken repository.
   */
  readonly afterwards: () => void;
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
  // No repository yet, or no more: whoever makes one of it would bring the hooks along.
  if (entryStat(`${git}/HEAD`) === undefined) {
    return { mounts: holder.readOnly(git), afterwards() {} };
  }
  const places = [git, ...modulesIn(`${git}/modules`)];
  const fixed = [...withEach(places, FIXED), ...(isOfAnother ? withEach([git], OF_MAIN_TREE) : [])];
  // Nothing can be mounted on a link, which could be taken away.
  if (fixed.some((path) => entryStat(path)?.isSymbolicLink() === true)) {
    return { mounts: holder.readOnly(git), afterwards() {} };
  }
  const trees = linkedTrees(git, roots, holder);
  const held = places.map((place) => holder.hold(place).at);
  // What is missing would be made.
  for (const place of held) {
    makeEmptyDirectory(`${place}/hooks`);
    makeEmptyFile(`${place}/config`);
  }
  const there = fixed.filter((path) => entryStat(path) !== undefined);
  const missing = withEach([...held, ...trees.own], REDIRECTIONS).filter(
    (path) => entryStat(path) === undefined,
  );
  return {
    mounts: [...holder.writable(git), ...there.flatMap((path) => holder.readOnly(path)), ...trees.mounts],
    afterwards() {
      for (const path of missing) removeFile(path);
      trees.tidy();
    },
  };
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
function modulesIn(path: string): readonly string[] {
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
