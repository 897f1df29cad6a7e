import { resolve } from 'node:path';
import type { GuardedPath } from '../../../contract/files.js';
import { entryStat, filePrint } from '../../../platform/fs/fs-entry.js';
import { removeQuietly } from '../../../platform/fs/make-and-remove.js';
import { isWithin } from '../mount-holder.js';
import type { GitView } from './ask-git.js';
import { extractVersions } from './extract-versions.js';
import { type Repository, readSmallFile } from './find-repositories.js';
import { listTracked } from './list-tracked.js';

/** A hidden file that git tracks, with the version that commands see in its place. */
export interface CommittedFile {
  /** The path of the hidden file, absolute. */
  readonly at: string;
  /** A file of ours that holds the version, with the mode that commands see. */
  readonly source: string;
  readonly mode: number;
  /**
   * The hash of its content. If absent: git names no version, so commands can neither read the file nor record
   * it.
   */
  readonly sha256?: string;
  readonly size: number;
}

/**
 * The committed versions of the hidden files that git tracks. Commands see these in place of the hidden
 * files: the history shows them anyway, and git finds its files unchanged.
 *
 * Committed means: a commit that a branch, a tag, `HEAD` or a merge in progress names has this version at
 * this path. A version that is only staged is not shown: commands see the one of `HEAD`, or none. A file in
 * conflict has no version: it is closed, so that `git add` fails instead of choosing one.
 *
 * Git is called again only if a repository or the list of hidden paths has changed. If the same list object
 * is returned, nothing has changed.
 * @returns undefined if git cannot be asked
 */
export async function committedVersions(
  repositories: readonly Repository[],
  hidden: readonly GuardedPath[],
  by: GitSandbox,
): Promise<readonly CommittedFile[] | undefined> {
  if (hidden.length === 0) return NO_FILES;
  const lists: (readonly CommittedFile[])[] = [];
  for (const repository of repositories) {
    const files = await committedIn(repository, hidden, by);
    if (files === undefined) return undefined;
    if (files.length > 0) lists.push(files);
  }
  const [only = NO_FILES] = lists;
  if (lists.length < 2) return only;
  const known = joined.get(hidden);
  const isSame = known?.lists.length === lists.length && known.lists.every((list, at) => list === lists[at]);
  if (isSame) return known.files;
  const files = lists.flat();
  joined.set(hidden, { lists, files });
  return files;
}

/** The means to call git. */
export interface GitSandbox {
  /** Bubblewrap's path. */
  readonly bubblewrap: string;
  readonly roots: readonly string[];
}

const NO_FILES: readonly CommittedFile[] = [];

interface Joined {
  readonly lists: readonly (readonly CommittedFile[])[];
  readonly files: readonly CommittedFile[];
}

const joined = new WeakMap<readonly GuardedPath[], Joined>();

interface Known {
  /** A fingerprint of everything that the files depend on. */
  readonly print: string;
  readonly below: string;
  /** The list from which `below` was made. */
  readonly hidden: readonly GuardedPath[];
  /** The key under which `files` were extracted. */
  readonly key: string;
  readonly files: readonly CommittedFile[];
  /** The directories of this and earlier extractions, newest first. */
  readonly places: readonly string[];
}

/** By the directory of the repository. */
const seen = new Map<string, Known>();
const MOST_SEEN = 200;
/** A command that is about to start may still need a replaced extraction. */
const KEPT_PLACES = 3;

async function committedIn(
  repository: Repository,
  hidden: readonly GuardedPath[],
  by: GitSandbox,
): Promise<readonly CommittedFile[] | undefined> {
  const print = printOf(repository);
  // Git tracks nothing yet.
  if (print === undefined) return NO_FILES;
  const { top, directory } = repository;
  const known = seen.get(directory);
  if (known?.hidden === hidden && known.print === print) return known.files;
  const inside = hidden.filter(({ path }) => isWithin(path, top) && path !== top);
  const below = JSON.stringify(inside);
  if (known?.below === below && known.print === print) {
    seen.set(directory, { ...known, hidden });
    return known.files;
  }
  const found = inside.length === 0 ? undefined : await lookUp(repository, inside, by, known);
  if (found === undefined && inside.length > 0) return undefined;
  const { key = '', files = NO_FILES, places = [] } = found ?? {};
  for (const place of places.slice(KEPT_PLACES)) removeQuietly(place);
  forgetSome();
  seen.set(directory, { print, below, hidden, key, files, places: places.slice(0, KEPT_PLACES) });
  return files;
}

function forgetSome(): void {
  if (seen.size < MOST_SEEN) return;
  for (const { places } of seen.values()) for (const place of places) removeQuietly(place);
  seen.clear();
}

/** A fingerprint of the index, `HEAD` and its branch, and the settings for the conversion of content. */
function printOf({ directory, common }: Repository): string | undefined {
  const index = filePrint(`${directory}/index`);
  if (index === undefined) return undefined;
  const [, branch = ''] = /^ref: (refs\/[^\n]+)/.exec(readSmallFile(`${directory}/HEAD`)) ?? [];
  const others = [
    ...[`${directory}/HEAD`, `${directory}/logs/HEAD`, `${directory}/MERGE_HEAD`, `${common}/${branch}`],
    ...['packed-refs', 'reftable/tables.list', 'config', 'info/attributes'].map(
      (name) => `${common}/${name}`,
    ),
  ];
  return [index, ...others.map((path) => filePrint(path))].join();
}

async function lookUp(
  repository: Repository,
  hidden: readonly GuardedPath[],
  by: GitSandbox,
  known: Known | undefined,
): Promise<Pick<Known, 'key' | 'files' | 'places'> | undefined> {
  const { top } = repository;
  const view = viewOf(repository, by);
  const isShown = pathTest(hidden);
  // Files that do not exist on the host are not shown either.
  const tracked = await listTracked(view, (path) => isShown(`${top}/${path}`) && isFile(`${top}/${path}`));
  if (tracked === undefined) return undefined;
  const places = known?.places ?? [];
  if (tracked.versions.length === 0) return { key: '', files: NO_FILES, places };
  const key = JSON.stringify([tracked, filePrint(`${repository.common}/config`)]);
  if (known?.key === key) return { key, files: known.files, places };
  const extracted = await extractVersions(view, top, tracked);
  return extracted && { key, files: extracted.files, places: [extracted.place, ...places] };
}

function pathTest(hidden: readonly GuardedPath[]): (path: string) => boolean {
  const files = new Set(hidden.map(({ path }) => path));
  const directories = hidden.filter(({ type }) => type === 'dir').map(({ path }) => `${path}/`);
  return (path) => files.has(path) || directories.some((directory) => path.startsWith(directory));
}

function isFile(path: string): boolean {
  try {
    return entryStat(path)?.isFile() === true;
  } catch {
    return false;
  }
}

/** The repository without a working tree, so that no filter can read hidden files. */
function viewOf({ top, directory, common }: Repository, { bubblewrap, roots }: GitSandbox): GitView {
  const alternates = alternatesOf(common).filter((path) => roots.some((root) => isWithin(path, root)));
  const places = [common, directory, ...alternates];
  return {
    bubblewrap,
    mounts: [...new Set(places)].flatMap((place) => ['--ro-bind-try', place, place]),
    top,
    env: { GIT_DIR: directory, GIT_WORK_TREE: top },
  };
}

/** Additional object directories. */
function alternatesOf(common: string): readonly string[] {
  return readSmallFile(`${common}/objects/info/alternates`)
    .split('\n')
    .filter((line) => line.endsWith('/objects'))
    .map((line) => resolve(`${common}/objects`, line));
}
