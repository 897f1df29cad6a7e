import type { SearchScope } from '../contract/search.js';
import { openScratchFile, type ScratchFile } from '../platform/fs/scratch.js';
import { createPathSplitter, detach, type TakePath, toText } from './byte-path.js';
import type { FileFilter } from './file-filter.js';
import { inheritedIgnores, watchIgnores } from './ignore-files.js';
import type { NameTest } from './path-matcher.js';
import { type RipgrepEnd, runRipgrep } from './ripgrep.js';
import { excludeGlobs } from './ripgrep-globs.js';
import type { SearchPlace } from './search-place.js';

export interface FileWalk {
  readonly place: SearchPlace;
  readonly scope: SearchScope;
  readonly filter: FileFilter;
  /** Ripgrep's task for each file; it names the files that count. */
  readonly task: readonly string[];
  /** Patterns of files that it may not open. */
  readonly denied: readonly string[];
  readonly signal: AbortSignal;
  readonly sink: PathSink;
}

/** Receives the files that count: their paths below the place, as byte strings. */
export interface PathSink {
  add(path: string): void;
  /** Whether no path with this prefix is wanted; such a file is only counted. */
  isBeyond(start: string): boolean;
  pass(): void;
}

/** The searched directory, which precedes every path. */
const HERE = './';

/** Lets ripgrep walk an open directory on all processors; files arrive in any order. */
export async function walkFiles(walk: FileWalk): Promise<RipgrepEnd> {
  const { place } = walk;
  const split = createPathSplitter(filterEach(walk));
  const ignores = walk.scope.includeIgnored ? '' : inheritedIgnores(place.held, place.components);
  const scratch = ignores === '' ? undefined : openScratchFile(ignores);
  const watch = walk.scope.includeIgnored ? undefined : watchIgnores(place.held, walk.signal);
  try {
    const end = await runRipgrep({
      args: [...walk.task, ...scopeArguments(walk, scratch), '--', HERE],
      cwd: place.held.at,
      under: place.held.under ?? [],
      roots: place.roots,
      inherit: scratch?.descriptor === undefined ? [] : [scratch.descriptor],
      signal: watch?.signal ?? walk.signal,
      onOutput(chunk) {
        split(chunk);
        return undefined;
      },
    });
    watch?.check();
    return end;
  } finally {
    watch?.end();
    scratch?.close();
  }
}

const CACHED_DIRECTORIES = 20_000;

/** A directory that contained files. */
interface KnownDirectory {
  /** Everything before a file's name, as written. */
  readonly start: string;
  /** Undefined: no name in it can match. */
  readonly test: NameTest | undefined;
}

/** Passes on the files that match and are not denied. */
function filterEach(walk: FileWalk): TakePath {
  const { sink } = walk;
  const known = new Map<string, KnownDirectory>();
  // Each thread of ripgrep reports one directory after the other, so the next file is usually in the last
  // one.
  let last: KnownDirectory | undefined;
  let isBeyond = false;
  return (text, from, slash, end) => {
    const start = text.slice(from, slash + 1);
    if (last === undefined || start !== last.start) {
      last = lookUp(walk, known, start);
      isBeyond = sink.isBeyond(start.slice(HERE.length));
    }
    if (last.test?.(toText(text.slice(slash + 1, end))) !== true) return;
    if (isBeyond) sink.pass();
    else sink.add(text.slice(from + HERE.length, end));
  };
}

function lookUp(
  { filter, place }: FileWalk,
  known: Map<string, KnownDirectory>,
  start: string,
): KnownDirectory {
  const before = known.get(start);
  if (before !== undefined) return before;
  const directory = toText(start.slice(HERE.length, -1));
  const isMeant = filter.admits(directory);
  const isDenied = isMeant === undefined ? undefined : place.held.deniedEntries(directory);
  const test: NameTest | undefined =
    isMeant === undefined ? undefined : (name) => isMeant(name) && isDenied?.(name) !== true;
  if (known.size >= CACHED_DIRECTORIES) known.clear();
  const directoryKnown = { start: detach(start), test };
  known.set(directoryKnown.start, directoryKnown);
  return directoryKnown;
}

/**
 * Rules inside the root apply with and without a repository; rules outside it, and personal ones, never do.
 */
const IGNORE_RULES = ['--no-require-git', '--no-ignore-parent', '--no-ignore-global', '--no-ignore-exclude'];

function scopeArguments(
  { place, scope, filter, denied }: FileWalk,
  scratch?: ScratchFile,
): readonly string[] {
  const seesHidden = scope.includeHidden || filter.namesHidden;
  const fromTop = place.held.path.split(/[\\/]/).filter((name) => name !== '');
  const excluded = excludeGlobs(denied, { fromTop, fromRoot: place.components });
  return [
    ...(scope.includeIgnored ? ['--no-ignore'] : IGNORE_RULES),
    ...(scratch === undefined ? [] : ['--ignore-file', scratch.path]),
    ...(seesHidden ? ['--hidden'] : []),
    ...(seesHidden && !scope.includeIgnored && !filter.namesGit ? ['--glob', '!.git'] : []),
    ...filter.narrowing,
    ...excluded.flatMap((glob) => ['--iglob', glob]),
    '--no-follow',
    '--path-separator',
    '/',
  ];
}
