import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { GuardedPath } from '../../../contract/files.js';
import { entryStat, filePrint } from '../../../platform/fs/fs-entry.js';
import { readFileBytes } from '../../../platform/fs/read-file-bytes.js';
import { makePlaceholderFiles, type PlaceholderFile } from '../../../platform/process/placeholder-files.js';
import { isWithin, type Mount, readOnlyMount } from '../mount-holder.js';
import { type Repository, readSmallFile } from './find-repositories.js';
import { type OwnAttributes, ownAttributes } from './own-attributes.js';
import { type IndexEntry, parseGitIndex } from './parse-git-index.js';

/** How what is hidden, and known to git, is shown to commands. */
export interface TrackedPlaceholders {
  /** What is mounted over a hidden path; undefined where git knows nothing of it. */
  mountOf(hidden: GuardedPath): Mount | undefined;
  /** Mounts of what git needs to know about it, elsewhere and inside of repositories, and variables that tell it. */
  readonly mounts: readonly Mount[];
  readonly inside: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Git takes a tracked file that is empty for changed, and one that is missing for removed, and would record that. So
 * what it tracks of the hidden is shown as files of the same size, time and mode that hold nothing, and a filter that
 * answers with what git has already, whenever it wants to read one.
 */
export function trackedPlaceholders(
  repositories: readonly Repository[],
  hidden: readonly GuardedPath[],
): TrackedPlaceholders {
  if (hidden.length === 0) return NONE;
  const tracked = repositories.map((repository) => trackedIn(repository, hidden));
  const entries = tracked.flatMap((found) => (found === 'unknown' ? [] : found));
  const doubtful = repositories.filter((_, index) => tracked[index] === 'unknown').map(({ top }) => top);
  const own = ownAttributes(withFiles(repositories, tracked));
  const made =
    entries.length > MOST_FILES || own === undefined
      ? undefined
      : placeholdersFor(entries, unknownTo(repositories, entries, hidden), own);
  return {
    mountOf(path) {
      const isTracked = entries.some((entry) => isOf(entry, path));
      if (isTracked && made !== undefined) return readOnlyMount(`${made}/files${path.path}`, path.path);
      const isDoubtful = isTracked || doubtful.some((top) => isWithin(path.path, top));
      // Git does not take for removed what it may not look into.
      return path.type === 'dir' && isDoubtful ? closed(path.path) : undefined;
    },
    mounts: made === undefined ? [] : [readOnlyMount(`${made}/git`, PLACE)],
    inside:
      made === undefined ? [] : (own ?? []).map(({ path }, at) => readOnlyMount(`${made}/own/${at}`, path)),
    env: made === undefined ? {} : SETTINGS,
  };
}

/** What git tracks of the hidden, for a layer that hides it; undefined: that cannot be told. */
export interface TrackedLayer extends Pick<TrackedPlaceholders, 'env'> {
  /** Arguments for bubblewrap. */
  readonly mounts: readonly string[];
  readonly files: readonly TrackedFile[];
  /** With what git tracks and a command could not write, as in a working tree or a clone that it has made. */
  readonly hidden: readonly GuardedPath[];
}

/** @param isDenied what no command may see, where it is there */
export function trackedLayer(
  repositories: readonly Repository[],
  hidden: readonly GuardedPath[],
  isDenied: (path: string) => boolean,
): TrackedLayer | undefined {
  const tracked = repositories.map((repository) => trackedIn(repository, hidden, isDenied));
  const missing = tracked.flatMap((found) => (found === 'unknown' ? [] : found.filter(isMissing)));
  const own = ownAttributes(withFiles(repositories, tracked));
  if (own === undefined) return undefined;
  const before = layers.get(hidden);
  const isSame =
    before !== undefined &&
    isSameList(tracked, before.tracked) &&
    isSameList(missing, before.missing) &&
    isDeepStrictEqual(own, before.own);
  const layer = isSame ? before.layer : layerFor(tracked, missing, hidden, own);
  if (layer !== undefined) layers.set(hidden, { tracked, missing, own, layer });
  return layer;
}

/** Else git would take it for removed, and a commit of everything would say so. */
function isMissing({ at, isStray, isSkipped }: TrackedFile): boolean {
  if (isStray !== true || isSkipped === true) return false;
  return entryStat(at) === undefined && entryStat(dirname(at))?.isDirectory() === true;
}

function isSameList<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at]);
}

/** The last one for the very same list: where nothing else has changed either, its lists are the same too. */
const layers = new WeakMap<
  readonly GuardedPath[],
  {
    readonly tracked: readonly (readonly TrackedFile[] | 'unknown')[];
    readonly missing: readonly TrackedFile[];
    readonly own: readonly OwnAttributes[];
    readonly layer: TrackedLayer;
  }
>();

function layerFor(
  tracked: readonly (readonly TrackedFile[] | 'unknown')[],
  missing: readonly TrackedFile[],
  hidden: readonly GuardedPath[],
  own: readonly OwnAttributes[],
): TrackedLayer | undefined {
  const there = tracked.flatMap((found) => (found === 'unknown' ? [] : found));
  const files = [...there.filter(({ isStray }) => isStray !== true), ...missing];
  const isInHidden = ({ at }: TrackedFile): boolean =>
    hidden.some(({ path, type }) => type === 'dir' && isWithin(at, path));
  if (tracked.includes('unknown') || files.length > MOST_FILES || files.some(isInHidden)) return undefined;
  const made = files.length === 0 ? undefined : placeholdersFor(files, [], own);
  return {
    files,
    hidden: missing.length === 0 ? hidden : [...hidden, ...missing.map(({ at }) => asHidden(at))],
    mounts:
      made === undefined
        ? []
        : [
            ...['--ro-bind', `${made}/git`, PLACE],
            ...own.flatMap(({ path }, at) => ['--ro-bind', `${made}/own/${at}`, path]),
          ],
    env: made === undefined ? {} : SETTINGS,
  };
}

function asHidden(path: string): GuardedPath {
  return { path, type: 'file' };
}

function placeholdersFor(
  entries: readonly TrackedFile[],
  unknown: readonly GuardedPath[],
  own: readonly OwnAttributes[],
): string | undefined {
  if (entries.length === 0 && unknown.length === 0) return undefined;
  return makePlaceholderFiles(JSON.stringify([entries, unknown, own]), () => filesFor(entries, unknown, own));
}

/** What git does not track, by its path from the top: it would try to add it, and add nothing else for that. */
function unknownTo(
  repositories: readonly Repository[],
  entries: readonly TrackedFile[],
  hidden: readonly GuardedPath[],
): readonly GuardedPath[] {
  return repositories.flatMap(({ top }) =>
    hidden
      .filter((place) => isWithin(place.path, top) && !entries.some((entry) => isOf(entry, place)))
      .map(({ path, type }) => ({ path: path.slice(top.length + 1), type })),
  );
}

function isOf({ at }: Pick<TrackedFile, 'at'>, { path, type }: GuardedPath): boolean {
  return type === 'dir' ? at.startsWith(`${path}/`) : at === path;
}

function closed(target: string): Mount {
  return { kind: 'empty', target, isClosed: true };
}

/** By repository. */
function withFiles(
  repositories: readonly Repository[],
  tracked: readonly (readonly TrackedFile[] | 'unknown')[],
): Parameters<typeof ownAttributes>[0] {
  return repositories.map((repository, at) => {
    const found = tracked[at];
    return { repository, files: found === undefined || found === 'unknown' ? [] : found };
  });
}

const NONE: TrackedPlaceholders = { mountOf: () => undefined, mounts: [], inside: [], env: {} };

/** Beyond, hidden directories are shown as closed, and hidden files as empty devices, which git refuses to record. */
const MOST_FILES = 2000;

export interface TrackedFile extends IndexEntry {
  /** Absolute. */
  readonly at: string;
  /** It is denied, and not among what is hidden: nothing is there, or no one has looked. */
  readonly isStray?: true;
}

function trackedIn(
  { top, directory, common }: Repository,
  hidden: readonly GuardedPath[],
  isDenied?: (path: string) => boolean,
): readonly TrackedFile[] | 'unknown' {
  const place = `${directory}/index`;
  const print = filePrint(place);
  // Nothing is tracked yet.
  if ((hidden.length === 0 && isDenied === undefined) || print === undefined) return NO_FILES;
  const index = isDenied === undefined ? place : `${place}\0layer`;
  const known = seen.get(index);
  if (known?.hidden === hidden && known.print === print) return known.found;
  const below = hidden.filter(({ path }) => isWithin(path, top));
  if (below.length === 0 && isDenied === undefined) return NO_FILES;
  const key = JSON.stringify([print, below]);
  if (known?.key === key) {
    seen.set(index, { ...known, hidden });
    return known.found;
  }
  const hashBytes = /^\s*objectformat\s*=\s*"?sha256/im.test(readSmallFile(`${common}/config`)) ? 32 : 20;
  const isHidden = (at: string): boolean => below.some((one) => isOf({ at }, one));
  const isWanted = (path: string): boolean => {
    const at = `${top}/${path}`;
    return isHidden(at) || isDenied?.(at) === true;
  };
  const placed =
    readIndex(place, hashBytes, isWanted)?.map((entry): TrackedFile => {
      const at = `${top}/${entry.path}`;
      return isHidden(at) ? { ...entry, at } : { ...entry, at, isStray: true };
    }) ?? (below.length === 0 ? NO_FILES : 'unknown');
  if (seen.size > 100) seen.clear();
  seen.set(index, { key, print, hidden, found: placed });
  return placed;
}

const NO_FILES: readonly TrackedFile[] = [];

interface SeenIndex {
  /** Says all that `found` follows from. */
  readonly key: string;
  /** Where both are the same, so is the key. */
  readonly print: string;
  readonly hidden: readonly GuardedPath[];
  readonly found: readonly TrackedFile[] | 'unknown';
}

const seen = new Map<string, SeenIndex>();

const INDEX_BYTES = 256 * 1024 * 1024;

function readIndex(
  index: string,
  hashBytes: number,
  isWanted: (path: string) => boolean,
): readonly IndexEntry[] | undefined {
  try {
    const bytes = readFileBytes(index, { maxBytes: INDEX_BYTES, acceptPipes: false });
    return parseGitIndex(Buffer.from(bytes), hashBytes, isWanted);
  } catch {
    return undefined;
  }
}

/** Programs that read lines find none; a large one is nothing but its size. */
const LINES_BYTES = 16 * 1024;

function filesFor(
  entries: readonly TrackedFile[],
  unknown: readonly GuardedPath[],
  own: readonly OwnAttributes[],
): readonly PlaceholderFile[] {
  return [
    ...entries.map(({ at, size, modifiedSeconds, isExecutable }) => ({
      path: `files${at}`,
      content: size > LINES_BYTES ? size : '\n'.repeat(size),
      modifiedSeconds,
      isExecutable,
    })),
    { path: 'git/attributes', content: attributesOf(entries.map(({ path }) => path)) },
    { path: 'git/excludes', content: excludesOf(unknown) },
    { path: 'git/clean', content: CLEAN_FILTER },
    ...own.map(({ text, paths }, at) => ({
      path: `own/${at}`,
      content: `${text}\n${attributesOf(paths)}`,
    })),
  ];
}

const PLACE = '/etc/toolexec';

/** As git names it when it fails. */
const FILTER_NAME = 'hidden-by-toolexec';

/** Whose file it is, where it lies and when its state was changed differ from what git has noted. */
const SETTINGS: Readonly<Record<string, string>> = {
  'core.checkStat': 'minimal',
  'core.attributesFile': `${PLACE}/attributes`,
  'core.excludesFile': `${PLACE}/excludes`,
  [`filter.${FILTER_NAME}.clean`]: `sh ${PLACE}/clean %f`,
  [`filter.${FILTER_NAME}.smudge`]: 'cat',
  [`filter.${FILTER_NAME}.required`]: 'true',
};

/**
 * For `sh`, as a clean filter of git: a placeholder is taken for what git has of the file already; where it has nothing,
 * it is refused. What is no placeholder, as in another working tree, goes through as it is.
 */
const CLEAN_FILTER = `
file=$(mktemp) || exit 1
trap 'rm -f "$file"' EXIT
cat >"$file" || exit 1
if [ -n "$(tr -d '\\n\\000' <"$file" | head -c 1)" ]; then
  cat "$file"
else
  git cat-file blob ":$1" 2>/dev/null && exit
  echo "toolexec: $1 is hidden from commands by a deny pattern: leave it out (git add -- . ':!$1')" >&2
  exit 1
fi
`;

/** Lines for a file of attributes, which put the filter in the way of these paths. */
function attributesOf(paths: readonly string[]): string {
  return paths
    .map((path) => `${patternOf(path)} filter=${FILTER_NAME} -working-tree-encoding -ident\n`)
    .join('');
}

/** Lines for a file of exclusions, for what git shall not try to add. A name with a line feed cannot be said in one. */
function excludesOf(paths: readonly { readonly path: string; readonly type: 'file' | 'dir' }[]): string {
  return paths
    .filter(({ path }) => !path.includes('\n'))
    .map(
      ({ path, type }) =>
        `${literalOf(path).replace(/ +$/, (blanks) => '\\ '.repeat(blanks.length))}${type === 'dir' ? '/' : ''}\n`,
    )
    .join('');
}

/** From the top of the working tree, and no pattern. */
function literalOf(path: string): string {
  return `/${path}`.replace(/[*?[\\]/g, '\\$&');
}

/** In quotes as C has them. */
function patternOf(path: string): string {
  const quoted = literalOf(path).replace(/["\\]|[^\x20-\x7e]/gu, (char) =>
    char.length === 1 && /["\\]/.test(char) ? `\\${char}` : octal(char),
  );
  return `"${quoted}"`;
}

function octal(char: string): string {
  return [...Buffer.from(char)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
