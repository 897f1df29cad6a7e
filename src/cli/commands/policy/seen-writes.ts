import { dirname } from 'node:path';
import type { CommandChanges } from '../../../contract/changes.js';
import { DEPENDENCY_FOLDERS } from '../../../files/dependency-folders.js';
import type { LaterPlace } from '../../later-place.js';

/** The recorded changes of a call. */
export type SeenChanges = Pick<CommandChanges, 'created' | 'modified' | 'deleted' | 'unexpected' | 'more'>;

/** The changes of several calls, and patterns that cover them, for `writes` of a rule. */
export interface SeenWrites {
  readonly patterns: readonly string[];
  /** Changed paths that run later by themselves. */
  readonly laterCode: readonly string[];
  readonly deleted: readonly string[];
  /** Names that no pattern can express. */
  readonly unnamed: readonly string[];
}

/** The files below a directory that run later. Undefined if there are too many entries. */
export type LaterBelow = (directory: string) => readonly string[] | undefined;

/**
 * Patterns for the observed changes: a directory if it was created, or several of its files changed;
 * otherwise the file. A directory with files that run later, or meant for them, is never covered as a whole,
 * unless all of these changed.
 */
export function writesFor(
  changes: readonly SeenChanges[],
  place: LaterPlace,
  laterBelow: LaterBelow,
): SeenWrites {
  const created = changes.flatMap((one) => one.created);
  const deleted = changes.flatMap((one) => one.deleted).filter((path) => !created.includes(path));
  const all = [...new Set([...created, ...changes.flatMap((one) => one.modified), ...deleted])].sort();
  const paths = all.filter(isPlain);
  const files = paths.filter((path) => !isDirectory(path));
  const laterCode = files.filter((path) => place.has(place.at(path)));
  const isWhole = (directory: string): boolean => {
    const at = place.at(directory);
    if (directory === '' || place.lies(at)) return false;
    const below = laterBelow(at);
    return below?.every((path) => laterCode.some((seen) => place.at(seen) === path)) === true;
  };
  const whole = wholeDirectories(created, files).filter(isWhole);
  const left = paths.filter((path) => !whole.some((directory) => isIn(path, directory)));
  // A directory also covers its expected content.
  const alone = left.filter((path) => !isDirectory(path) || !paths.some((other) => isBelow(other, path)));
  return {
    patterns: [
      ...outermost(whole).map((directory) => `${escaped(directory)}/**`),
      ...alone.map((path) => named(path, place)),
    ],
    laterCode,
    deleted: deleted.filter((path) => !isDirectory(path)),
    unnamed: all.filter((path) => !isPlain(path)),
  };
}

/** Directories sorted by name, parents first. */
function wholeDirectories(created: readonly string[], files: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of created) if (isDirectory(path) && isPlain(path)) found.add(path.slice(0, -1));
  for (const path of files) {
    const names = path.split('/');
    const at = names.findIndex((name) => DEPENDENCY_FOLDERS.includes(name));
    if (at !== -1 && at < names.length - 1) found.add(names.slice(0, at + 1).join('/'));
    // The next commit has objects of other names.
    const objects = /^(?:.*\/)?\.git\/objects(?=\/)/.exec(path)?.[0];
    if (objects !== undefined) found.add(objects);
  }
  addParents(files, MOST_FILES, found);
  // Many sibling directories, such as git's objects: the next one will have another name.
  addParents([...found], MOST_DIRECTORIES, found);
  return [...found].sort();
}

/**
 * A directory with more changed files than this is covered as a whole, as is one with more such directories.
 */
const MOST_FILES = 1;
const MOST_DIRECTORIES = 2;

function addParents(paths: readonly string[], most: number, found: Set<string>): void {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const parent = dirname(path);
    counts.set(parent, (counts.get(parent) ?? 0) + 1);
  }
  for (const [parent, count] of counts)
    if (count > most && parent !== '.' && parent !== '/') found.add(parent);
}

function outermost(directories: readonly string[]): readonly string[] {
  return directories.filter(
    (directory) => !directories.some((other) => other !== directory && isIn(directory, other)),
  );
}

function isDirectory(path: string): boolean {
  return path.endsWith('/');
}

function isIn(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

/** @param directory with its slash */
function isBelow(path: string, directory: string): boolean {
  return path !== directory && path.startsWith(directory);
}

/** A backslash marks escaped characters, which are invisible or not text. */
function isPlain(path: string): boolean {
  return path !== './' && !path.includes('\\') && path.trim() === path;
}

function escaped(path: string): string {
  return path.replace(/[*?[\]{}()!+@]/g, '\\$&').replace(/^~/, './~');
}

/** A bare name would match at any depth, which is too broad for code that runs later. */
function named(path: string, place: LaterPlace): string {
  const plain = isDirectory(path) ? path.slice(0, -1) : path;
  const isAnywhere = !plain.includes('/') && place.lies(place.at(plain));
  return escaped(isAnywhere ? place.at(plain) : plain);
}
