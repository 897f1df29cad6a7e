import { directoryEntries, entryStat } from '../../platform/fs-entry.js';

/**
 * Git's own directory can be written, or nothing could be committed; what makes git run programs cannot. It is mounted
 * over itself, so that it cannot be moved away and another one made in its place.
 */
export function gitMounts(git: string): readonly string[] {
  // No repository yet, or no more: whoever makes one of it would bring the hooks along.
  if (entryStat(`${git}/HEAD`) === undefined) return ['--ro-bind', git, git];
  const places = [git, ...modulesIn(`${git}/modules`)].flatMap((place) =>
    FIXED.map((name) => `${place}/${name}`),
  );
  const trees = directoriesIn(`${git}/worktrees`).flatMap((tree) => TREE.map((name) => `${tree}/${name}`));
  const fixed = [...places, ...trees].flatMap((path) => ({ path, entry: entryStat(path) }));
  // Nothing can be mounted on a link, which could be taken away.
  if (fixed.some(({ entry }) => entry?.isSymbolicLink() === true)) return ['--ro-bind', git, git];
  const there = fixed.filter(({ entry }) => entry !== undefined);
  return ['--bind', git, git, ...there.flatMap(({ path }) => ['--ro-bind', path, path])];
}

/** Hooks, and what can name programs: filters, pagers, a file system monitor, another directory that has hooks. */
const FIXED = ['hooks', 'config', 'config.worktree', 'commondir'];
const TREE = ['commondir', 'gitdir', 'config.worktree'];

/**
 * Where git would look for other hooks and settings, if it were there. Nothing can stand in for it: git takes an empty
 * one for a broken repository. So what a command has put there is taken away when it ends.
 */
export function gitRedirections(git: string): readonly string[] {
  return ['commondir', 'config.worktree']
    .map((name) => `${git}/${name}`)
    .filter((path) => entryStat(path) === undefined);
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
