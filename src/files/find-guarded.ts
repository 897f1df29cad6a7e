import { join } from 'node:path';
import type { GuardedPath, GuardedPaths } from '../contract/files.js';
import { entryStat } from '../platform/fs/fs-entry.js';
import { directoryPrint, plainEntries } from '../platform/fs/probe-place.js';
import type { Containment } from './containment.js';

/** Directories that are looked into, the shallow ones first: what lies deeper is not guarded, and that is told. */
const MOST_DIRECTORIES = 20_000;
/** Mounts of so many take a quarter of a second. */
const MOST_GUARDED = 2000;

/** Others' code, thousands of directories deep, and what is guarded as a whole. */
const NOT_ENTERED = new Set(['node_modules', '.git', '.hg', '.svn', '.venv', '__pycache__']);

/**
 * Finds what the deny patterns say of what is there, for a command sandbox, which knows only paths. Asked before every command: a
 * directory that has not changed since is not read again, which makes it 2 µs a directory.
 */
export function guardedFinder(containment: Containment): Guarded {
  const known = new Map<string, KnownDirectory>();
  // What was guarded first keeps its guard: a command can make as many files as it likes.
  let first: ReadonlySet<string> = new Set();
  let last: { readonly directories: readonly KnownDirectory[]; readonly guarded: GuardedPaths } | undefined;
  return (every) => {
    const visited: KnownDirectory[] = [];
    const guarded: { -readonly [K in 'hidden' | 'readOnly']: GuardedPath[] } = { hidden: [], readOnly: [] };
    const queue = [...containment.rootSet.roots];
    let at = 0;
    for (; at < queue.length && at < MOST_DIRECTORIES; at++) {
      const directory = queue[at] ?? '';
      const found = examine(containment, known, directory);
      visited.push(found);
      const { hidden, readOnly, directories } = found;
      guarded.hidden.push(...hidden);
      guarded.readOnly.push(...readOnly);
      queue.push(...directories);
    }
    if (known.size > 2 * MOST_DIRECTORIES) known.clear();
    const incomplete = at < queue.length;
    const answer = { ...guarded, missing: missing(containment), incomplete };
    if (every === undefined) {
      const taken = mountable(answer, first);
      first = new Set([...taken.hidden, ...taken.readOnly].map(({ path }) => path));
      return taken;
    }
    // The very same lists tell that nothing has changed.
    if (last !== undefined && isSame(last.directories, visited)) return { ...last.guarded, incomplete };
    last = { directories: visited, guarded: answer };
    return answer;
  };
}

/** As many of them as can be mounted over, those of `first` before all others. */
function mountable(found: GuardedPaths, first: ReadonlySet<string>): GuardedPaths {
  if (found.hidden.length + found.readOnly.length <= MOST_GUARDED) return found;
  const isFirst = ({ path }: GuardedPath): boolean => first.has(path);
  const all = [...found.hidden, ...found.readOnly];
  const ordered = [...all.filter(isFirst), ...all.filter((entry) => !isFirst(entry))];
  const taken = new Set(ordered.slice(0, MOST_GUARDED));
  const isTaken = (entry: GuardedPath): boolean => taken.has(entry);
  return {
    ...found,
    hidden: found.hidden.filter(isTaken),
    readOnly: found.readOnly.filter(isTaken),
    incomplete: true,
  };
}

type Guarded = (every?: 'every') => GuardedPaths;

function isSame(one: readonly KnownDirectory[], other: readonly KnownDirectory[]): boolean {
  return one.length === other.length && one.every((directory, index) => directory === other[index]);
}

interface KnownDirectory {
  readonly print: string;
  readonly hidden: readonly GuardedPath[];
  readonly readOnly: readonly GuardedPath[];
  /** To be looked into. */
  readonly directories: readonly string[];
}

function examine(
  containment: Containment,
  known: Map<string, KnownDirectory>,
  directory: string,
): KnownDirectory {
  const before = known.get(directory);
  const print = directoryPrint(directory);
  if (print === undefined) return NOTHING;
  if (before?.print === print) return before;
  const found = { print, ...matchEntries(containment, directory) };
  known.set(directory, found);
  return found;
}

const NOTHING: KnownDirectory = { print: '', hidden: [], readOnly: [], directories: [] };

function matchEntries({ denies }: Containment, directory: string): Omit<KnownDirectory, 'print'> {
  const hidden: GuardedPath[] = [];
  const readOnly: GuardedPath[] = [];
  const directories: string[] = [];
  for (const { name, type } of plainEntries(directory)) {
    const path = join(directory, name);
    const entry: GuardedPath = { path, type };
    if (denies.deniedBy(path, 'read') !== undefined) hidden.push(entry);
    else if (denies.deniedBy(path, 'write') !== undefined) readOnly.push(entry);
    else if (type === 'dir' && !NOT_ENTERED.has(name)) directories.push(path);
  }
  return { hidden, readOnly, directories };
}

/** What git would take for a repository, hooks and all. */
function missing({ rootSet, denies }: Containment): readonly string[] {
  return rootSet.roots
    .map((root) => join(root, '.git'))
    .filter((git) => entryStat(git) === undefined && denies.deniedBy(git, 'write') !== undefined);
}
