import { dirname, join } from 'node:path';
import type { GuardedPath, GuardedPaths, RootsRead, Sandbox, SeenDirectory } from '../contract/files.js';
import { timeSlices } from '../platform/clock/time-slices.js';
import { entryStat } from '../platform/fs/fs-entry.js';
import { type DirectoryPrint, directoryPrint, namedEntries } from '../platform/fs/probe-place.js';
import type { Containment } from './containment.js';
import { holdsUnnameable, isUnnameable } from './unnameable.js';

/**
 * Maximum number of directories to read, shallow ones first. Deeper ones are not protected, and the result
 * says so.
 */
const MOST_DIRECTORIES = 20_000;
/** Maximum number of entries to read in them. They take a second and 60 MB. */
const MOST_ENTRIES = 500_000;
/** The number of entries after which other work gets a turn. */
const ENTRIES_AT_ONCE = 2_000;
/** This many mounts take a quarter of a second. */
const MOST_GUARDED = 2000;

/** Third-party code with thousands of directories, and directories that are protected as a whole. */
const NOT_ENTERED = new Set(['node_modules', '.git', '.hg', '.svn', '.venv', '__pycache__']);

/**
 * Finds the existing paths that match deny patterns, for a command sandbox, which knows only paths. Runs
 * before every command: an unchanged directory is not read again, which takes 2 µs a directory.
 */
export function guardedFinder(
  containment: Containment,
  mostEntries = MOST_ENTRIES,
): Required<Pick<Sandbox, 'guarded' | 'leading' | 'readAhead'>> {
  const known = new Map<string, KnownDirectory>();
  const search = { containment, known, mostEntries };
  // Earlier protected paths keep their protection: a command can create any number of files.
  let first: ReadonlySet<string> = new Set();
  let last: { readonly directories: readonly KnownDirectory[]; readonly guarded: GuardedPaths } | undefined;
  let reading: Promise<Examined> | undefined;
  const own = new WeakMap<RootsRead, Examined>();
  const examined = (read: RootsRead | undefined): Examined =>
    (read === undefined ? undefined : own.get(read)) ?? examineAtOnce(search);
  return {
    guarded(every, read) {
      const { visited, incomplete } = examined(read);
      if (known.size > 2 * MOST_DIRECTORIES) known.clear();
      const hidden = visited.flatMap((directory) => directory.hidden);
      const readOnly = visited.flatMap((directory) => directory.readOnly);
      const answer = { hidden, readOnly, missing: missing(containment), incomplete };
      if (every === undefined) {
        const taken = mountable(answer, first);
        first = new Set([...taken.hidden, ...taken.readOnly].map(({ path }) => path));
        return taken;
      }
      // The identical lists show that nothing has changed.
      if (last === undefined || !isSame(last.directories, visited))
        last = { directories: visited, guarded: answer };
      return { ...last.guarded, incomplete, directories: last.directories };
    },
    leading(above, read) {
      const directories = above === undefined ? examined(read).visited : directoriesAbove(search, above);
      return directories.flatMap(({ leading }) => leading);
    },
    async readAhead() {
      // A reading that has begun may have passed what the caller has changed since.
      if (reading !== undefined) return void (await reading);
      reading = examineInSlices(search).finally(() => {
        reading = undefined;
      });
      const found = await reading;
      own.set(found, found);
      return found;
    },
  };
}

function examineAtOnce(search: GuardSearch): Examined {
  const steps = examineAll(search);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

async function examineInSlices(search: GuardSearch): Promise<Examined> {
  const slices = timeSlices();
  const steps = examineAll(search);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (slices.isOver()) await slices.next();
  }
}

interface GuardSearch {
  readonly containment: Containment;
  /** By path. */
  readonly known: Map<string, KnownDirectory>;
  readonly mostEntries: number;
}

/** The directories of a root on the way to a path, and all roots. */
function directoriesAbove(search: GuardSearch, path: string): readonly KnownDirectory[] {
  const { rootSet } = search.containment;
  const directories = new Set(rootSet.roots);
  const root = rootSet.rootOf(path);
  for (let at = dirname(path); root !== undefined && at.length > root.length; at = dirname(at))
    directories.add(at);
  return [...directories].flatMap((directory) => {
    const steps = examine(search, directory, search.mostEntries);
    for (let step = steps.next(); ; step = steps.next())
      if (step.done === true) return step.value === undefined ? [] : [step.value];
  });
}

interface Examined {
  readonly visited: readonly KnownDirectory[];
  readonly incomplete: boolean;
}

/** Pauses at points where other work may run. */
function* examineAll(search: GuardSearch): Generator<void, Examined> {
  const { containment, mostEntries } = search;
  const visited: KnownDirectory[] = [];
  const queue = [...containment.rootSet.roots];
  let left = mostEntries;
  let incomplete = false;
  for (let at = 0; at < queue.length; at++) {
    if (at === MOST_DIRECTORIES || left === 0) return { visited, incomplete: true };
    const directory = queue[at] ?? '';
    const found = yield* examine(search, directory, left);
    if (found === undefined) continue;
    visited.push(found);
    if (found.isCut) return { visited, incomplete: true };
    // Not cached: a change further down leaves the state of this directory unchanged.
    if (found.hasUnnameable) incomplete ||= holdsUnnameable(containment, directory);
    left -= found.verdicts.size;
    for (const path of found.directories) queue.push(path);
  }
  return { visited, incomplete };
}

/** @param left the maximum number of entries to read. @returns undefined if there is no such directory */
function* examine(
  { containment, known }: GuardSearch,
  directory: string,
  left: number,
): Generator<void, KnownDirectory | undefined> {
  const before = known.get(directory);
  const print = directoryPrint(directory, before?.print);
  if (print === undefined) return undefined;
  if (before?.print === print && before.isReadUpTo(left)) return before;
  const found = yield* readDirectory(containment, { directory, print, before, left });
  known.set(directory, found);
  return found;
}

/** As many as can be mounted over; those of `first` come first. */
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

function isSame(one: readonly KnownDirectory[], other: readonly KnownDirectory[]): boolean {
  return one.length === other.length && one.every((directory, index) => directory === other[index]);
}

class KnownDirectory implements SeenDirectory {
  readonly path: string;
  readonly print: DirectoryPrint;
  readonly hidden: readonly GuardedPath[];
  readonly readOnly: readonly GuardedPath[];
  /** Directories to read. */
  readonly directories: readonly string[];
  /** Its entries that may lead elsewhere. */
  readonly leading: readonly string[];
  /** By name. A verdict of the patterns never changes for an entry of the same type. */
  readonly verdicts: ReadonlyMap<string, Matched>;
  /** It has more entries than were read. */
  readonly isCut: boolean;
  /** It has an entry whose name is not UTF-8. */
  readonly hasUnnameable: boolean;

  constructor(path: string, print: DirectoryPrint, matched: MatchedEntries) {
    this.path = path;
    this.print = print;
    this.hidden = matched.hidden;
    this.readOnly = matched.readOnly;
    this.directories = matched.directories;
    this.leading = matched.leading;
    this.verdicts = matched.verdicts;
    this.isCut = matched.isCut;
    this.hasUnnameable = matched.hasUnnameable;
  }

  get dev(): number {
    return this.print.dev;
  }

  get ino(): number {
    return this.print.ino;
  }

  get mode(): number {
    return this.print.mode;
  }

  has(name: string): boolean {
    return this.verdicts.has(name);
  }

  /** Whether reading it again, with this maximum number of entries, would find no more. */
  isReadUpTo(most: number): boolean {
    return this.isCut ? this.verdicts.size >= most : this.verdicts.size <= most;
  }
}

interface MatchedEntries {
  readonly hidden: readonly GuardedPath[];
  readonly readOnly: readonly GuardedPath[];
  readonly directories: readonly string[];
  readonly leading: readonly string[];
  readonly verdicts: ReadonlyMap<string, Matched>;
  readonly isCut: boolean;
  readonly hasUnnameable: boolean;
}

type Matched = `${GuardedPath['type']} ${'hidden' | 'readOnly' | 'entered' | 'open'}` | 'other open';

interface Reading {
  readonly directory: string;
  readonly print: DirectoryPrint;
  readonly before: KnownDirectory | undefined;
  /** The maximum number of entries to read. */
  readonly left: number;
}

function* readDirectory(
  containment: Containment,
  { directory, print, before, left }: Reading,
): Generator<void, KnownDirectory> {
  const hidden: GuardedPath[] = [];
  const readOnly: GuardedPath[] = [];
  const directories: string[] = [];
  const leading: string[] = [];
  const verdicts = new Map<string, Matched>();
  const isDenied = containment.deniesCommands.deniedEntries(directory, 'write');
  let isCut = false;
  let hasUnnameable = false;
  for (const { name, type } of namedEntries(directory)) {
    if (verdicts.size === left) {
      isCut = true;
      break;
    }
    if (verdicts.size % ENTRIES_AT_ONCE === 0) yield;
    const isNamed = !isUnnameable(directory, name);
    hasUnnameable ||= !isNamed;
    if (type === 'other' || !isNamed) {
      verdicts.set(name, 'other open');
      if (isNamed) leading.push(join(directory, name));
      continue;
    }
    const earlier = before?.verdicts.get(name);
    const matched: Matched = earlier?.startsWith(type)
      ? earlier
      : isDenied(name)
        ? deniedVerdict(containment, { path: join(directory, name), type }, name)
        : undeniedVerdict(type, name);
    verdicts.set(name, matched);
    if (matched === 'file open' && name !== '.git') continue;
    const path = join(directory, name);
    if (matched.endsWith('hidden')) hidden.push({ path, type });
    else if (matched.endsWith('readOnly')) readOnly.push({ path, type });
    else if (matched.endsWith('entered')) directories.push(path);
    if (name === '.git' || (type === 'dir' && matched.endsWith('readOnly'))) leading.push(path);
  }
  return new KnownDirectory(directory, print, {
    ...{ hidden, readOnly, directories, leading, verdicts },
    ...{ isCut, hasUnnameable },
  });
}

function deniedVerdict(
  { deniesCommands: denies }: Containment,
  { path, type }: GuardedPath,
  name: string,
): Matched {
  if (denies.deniedBy(path, 'read') !== undefined) return `${type} hidden`;
  if (denies.deniedBy(path, 'write') !== undefined) return `${type} readOnly`;
  return undeniedVerdict(type, name);
}

function undeniedVerdict(type: GuardedPath['type'], name: string): Matched {
  if (type === 'file') return 'file open';
  return NOT_ENTERED.has(name) ? 'dir open' : 'dir entered';
}

/** Paths that git would accept as a repository, including hooks. */
function missing({ rootSet, denies }: Containment): readonly string[] {
  return rootSet.roots
    .map((root) => join(root, '.git'))
    .filter((git) => entryStat(git) === undefined && denies.deniedBy(git, 'write') !== undefined);
}
