import { dirname, join } from 'node:path';
import type { DirectoryMode, ExaminedEntry, RestoredFile, Sandbox } from '../../contract/files.js';
import { isToolError } from '../../errors/tool-error.js';
import type { NotedIntent } from '../record/noted-change.js';
import type { Fate } from './keep-together.js';

export interface PlannedDirectories {
  /** Missing directories that the call removed. */
  readonly make: readonly DirectoryMode[];
  /** Directories that the call created and that will be empty. */
  readonly tidy: readonly string[];
  /** All missing directories that will be created. */
  readonly makes: readonly string[];
}

/**
 * Plans the directories to create and remove when `files` are restored.
 * @param first files that are removed before directories are created
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

/**
 * Directories that a call created and that can be removed: everything in them is removed and nothing is
 * restored into them. The innermost comes first.
 */
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
 * Finds files that can be restored only after other files are removed: a directory of the call is in their
 * place, or a file of the call is in the place of their directory.
 * @returns for each of these files, the files to remove first, all of which the undo removes; an empty list
 * if a killed undo has already emptied the directory
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

/** The directories above a path, the innermost first. */
function* waysTo(path: string): Generator<string> {
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) yield at;
}

/** Undefined if the path may not be examined; it then stays unchanged. */
function examineQuietly(path: string, sandbox: Sandbox): ExaminedEntry | undefined {
  try {
    return sandbox.examine(path);
  } catch (error) {
    if (isToolError(error)) return undefined;
    throw error;
  }
}
