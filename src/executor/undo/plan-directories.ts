import { dirname, join } from 'node:path';
import type { DirectoryMode, ExaminedEntry, RestoredFile, Sandbox } from '../../contract/files.js';
import { isToolError } from '../../errors/tool-error.js';
import type { NotedIntent } from '../record/noted-change.js';
import type { Fate } from './keep-together.js';

export interface PlannedDirectories {
  /** Directories that the call removed, and that are missing. */
  readonly make: readonly DirectoryMode[];
  /** Directories that the call made, and that nothing will be in. */
  readonly tidy: readonly string[];
  /** All directories that are missing, and that will be made. */
  readonly makes: readonly string[];
}

/**
 * What becomes of directories when `files` are put back.
 * @param first files that are gone by the time that directories are made
 */
export function planDirectories(
  intents: readonly NotedIntent[],
  files: readonly RestoredFile[],
  first: ReadonlySet<string>,
  sandbox: Sandbox,
): PlannedDirectories {
  const isMissing = (path: string): boolean => {
    const kind = examineQuietly(path, sandbox)?.kind;
    return (
      kind === 'none' ||
      first.has(path) ||
      (kind === 'elsewhere' && [...waysTo(path)].some((at) => first.has(at)))
    );
  };
  const removed = intents.flatMap((intent) => intent.removed);
  const make = removed.filter(({ path }) => isMissing(path));
  const coming = files.flatMap(({ path, bytes }) => (bytes === null ? [] : [path]));
  const makes = new Set(make.map(({ path }) => path));
  for (const path of [...coming, ...makes]) {
    for (const at of waysTo(path)) {
      if (!isMissing(at)) break;
      makes.add(at);
    }
  }
  const going = new Set(files.flatMap(({ path, bytes }) => (bytes === null ? [path] : [])));
  const keeps = new Set([...coming, ...makes].map((path) => dirname(path)));
  return { make, tidy: goingWith(intents, going, keeps, sandbox), makes: [...makes] };
}

/** Directories that a call made and that go when all that is in them goes, unless something comes; the innermost first. */
function goingWith(
  intents: readonly NotedIntent[],
  files: ReadonlySet<string>,
  keeps: ReadonlySet<string>,
  sandbox: Sandbox,
): readonly string[] {
  const going = new Set(files);
  const made = new Set(intents.flatMap((intent) => intent.made));
  return [...made]
    .sort((a, b) => b.length - a.length)
    .filter((path) => {
      const entry = examineQuietly(path, sandbox);
      if (
        entry?.kind !== 'dir' ||
        keeps.has(path) ||
        !entry.names.every((name) => going.has(join(path, name)))
      )
        return false;
      going.add(path);
      return true;
    });
}

/**
 * Files that cannot come back before others have gone: a directory of the call is in their place, or a file of it in
 * the place of their directory.
 * @returns to each of them the files that have to go first, all of which the undo removes; none for a directory that an
 *   undo emptied before it was killed
 */
export function findObstacles(
  fates: ReadonlyMap<string, Fate>,
  intents: readonly NotedIntent[],
  sandbox: Sandbox,
): ReadonlyMap<string, readonly string[]> {
  const removals = new Set(
    [...fates].flatMap(([path, fate]) => (fate.kind === 'restore' && fate.before === null ? [path] : [])),
  );
  const obstacles = new Map<string, readonly string[]>();
  const going = new Set(goingWith(intents, removals, new Set(), sandbox));
  for (const [path, fate] of fates) {
    if (fate.kind !== 'stays') continue;
    const isDirectory = going.has(path);
    const inPlace = isDirectory ? [...removals].filter((other) => other.startsWith(`${path}/`)) : [];
    const onTheWay = [...waysTo(path)].filter((at) => removals.has(at));
    if (isDirectory || onTheWay.length > 0) obstacles.set(path, [...inPlace, ...onTheWay]);
  }
  return obstacles;
}

/** The directories that a path leads through, the innermost first. */
function* waysTo(path: string): Generator<string> {
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) yield at;
}

/** Undefined where it may not be looked at: then it stays as it is. */
function examineQuietly(path: string, sandbox: Sandbox): ExaminedEntry | undefined {
  try {
    return sandbox.examine(path);
  } catch (error) {
    if (isToolError(error)) return undefined;
    throw error;
  }
}
