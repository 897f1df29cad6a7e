import { join } from 'node:path';
import type { GuardedPath, GuardedPaths, SeenDirectory } from '../contract/files.js';
import { entryStat } from '../platform/fs/fs-entry.js';
import { type DirectoryPrint, directoryPrint, namedEntries } from '../platform/fs/probe-place.js';
import type { Containment } from './containment.js';

/**
 * Maximum number of directories to read, shallow ones first. Deeper ones are not protected, and the result
 * says so.
 */
const MOST_DIRECTORIES = 20_000;
/** This many mounts take a quarter of a second. */
const MOST_GUARDED = 2000;

/** Third-party code with thousands of directories, and directories that are protected as a whole. */
const NOT_ENTERED = new Set(['node_modules', '.git', '.hg', '.svn', '.venv', '__pycache__']);

/**
 * Finds the existing paths that match deny patterns, for a command sandbox, which knows only paths. Runs
 * before every command: an unchanged directory is not read again, which takes 2 µs a directory.
 */
export function guardedFinder(containment: Containment): Guarded {
  const known = new Map<string, KnownDirectory>();
  // Earlier protected paths keep their protection: a command can create any number of files.
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
    // The identical lists show that nothing has changed.
    if (last === undefined || !isSame(last.directories, visited))
      last = { directories: visited, guarded: answer };
    return { ...last.guarded, incomplete, directories: last.directories };
  };
}

/** As many of them as can be mounted over, those of `first` before the others. */
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

class KnownDirectory implements SeenDirectory {
  readonly path: string;
  readonly print: DirectoryPrint;
  readonly hidden: readonly GuardedPath[];
  readonly readOnly: readonly GuardedPath[];
  /** Directories to read. */
  readonly directories: readonly string[];
  /** The patterns' result for each entry, by its type and name. It never changes. */
  readonly verdicts: ReadonlyMap<string, Verdict>;

  constructor(
    path: string,
    print: DirectoryPrint,
    { hidden, readOnly, directories, verdicts }: MatchedEntries,
  ) {
    this.path = path;
    this.print = print;
    this.hidden = hidden;
    this.readOnly = readOnly;
    this.directories = directories;
    this.verdicts = verdicts;
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
    return ['file', 'dir', 'other'].some((type) => this.verdicts.has(`${type} ${name}`));
  }
}

interface MatchedEntries {
  readonly hidden: readonly GuardedPath[];
  readonly readOnly: readonly GuardedPath[];
  readonly directories: readonly string[];
  readonly verdicts: ReadonlyMap<string, Verdict>;
}

type Verdict = 'hidden' | 'readOnly' | 'entered' | 'open';

function examine(
  containment: Containment,
  known: Map<string, KnownDirectory>,
  directory: string,
): KnownDirectory {
  const before = known.get(directory);
  const print = directoryPrint(directory, before?.print);
  if (print === undefined) return NOTHING;
  if (before?.print === print) return before;
  const found = new KnownDirectory(directory, print, matchEntries(containment, directory, before?.verdicts));
  known.set(directory, found);
  return found;
}

const NOTHING = new KnownDirectory(
  '',
  { dev: 0, ino: 0, mode: 0, mtimeMs: 0, ctimeMs: 0 },
  { hidden: [], readOnly: [], directories: [], verdicts: new Map() },
);

function matchEntries(
  containment: Containment,
  directory: string,
  before: KnownDirectory['verdicts'] = new Map(),
): MatchedEntries {
  const hidden: GuardedPath[] = [];
  const readOnly: GuardedPath[] = [];
  const directories: string[] = [];
  const verdicts = new Map<string, Verdict>();
  const isDenied = containment.deniesCommands.deniedEntries(directory, 'write');
  for (const { name, type } of namedEntries(directory)) {
    const key = `${type} ${name}`;
    if (type === 'other') {
      verdicts.set(key, 'open');
      continue;
    }
    const entry: GuardedPath = { path: join(directory, name), type };
    const verdict =
      before.get(key) ?? (isDenied(name) ? verdictOf(containment, entry, name) : undeniedVerdict(type, name));
    verdicts.set(key, verdict);
    if (verdict === 'hidden') hidden.push(entry);
    else if (verdict === 'readOnly') readOnly.push(entry);
    else if (verdict === 'entered') directories.push(entry.path);
  }
  return { hidden, readOnly, directories, verdicts };
}

function verdictOf(
  { deniesCommands: denies }: Containment,
  { path, type }: GuardedPath,
  name: string,
): Verdict {
  if (denies.deniedBy(path, 'read') !== undefined) return 'hidden';
  if (denies.deniedBy(path, 'write') !== undefined) return 'readOnly';
  return undeniedVerdict(type, name);
}

function undeniedVerdict(type: GuardedPath['type'], name: string): Verdict {
  return type === 'dir' && !NOT_ENTERED.has(name) ? 'entered' : 'open';
}

/** Paths that git would accept as a repository, including hooks. */
function missing({ rootSet, denies }: Containment): readonly string[] {
  return rootSet.roots
    .map((root) => join(root, '.git'))
    .filter((git) => entryStat(git) === undefined && denies.deniedBy(git, 'write') !== undefined);
}
