import type { GuardedPath } from '../../../contract/files.js';
import { makeKeptDirectory } from '../../../platform/process/kept-directory.js';
import { isWithin, type Mount, readOnlyMount } from '../mount-holder.js';
import type { CommittedFile } from './committed-versions.js';
import type { Repository } from './find-repositories.js';

/** The view that a command which writes through has of hidden files in repositories. */
export interface HiddenMounts {
  /** The mount over a hidden path; undefined if git does not track it. */
  mountOf(hidden: GuardedPath): Mount | undefined;
  /** Mounts at other places, for git, and settings that name them. */
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Mounts the committed versions read-only over the hidden files, so git finds them unchanged. Hidden files
 * that git does not track are excluded, because git would try to add them and fail.
 * @param committed undefined: git could not be asked
 */
export function hiddenMounts(
  repositories: readonly Repository[],
  hidden: readonly GuardedPath[],
  committed: readonly CommittedFile[] | undefined,
): HiddenMounts {
  if (hidden.length === 0) return NONE;
  const excluded = excludesOf(untracked(repositories, hidden, committed ?? []));
  const place = excluded === '' ? undefined : keep(excluded);
  return {
    mountOf: (path) => {
      const source = sourceOf(path, committed ?? []);
      if (source !== undefined) return readOnlyMount(source, path.path);
      const isDoubtful = committed === undefined && repositories.some(({ top }) => isWithin(path.path, top));
      // Git does not treat a directory as removed if it cannot read it.
      return path.type === 'dir' && isDoubtful
        ? { kind: 'empty', target: path.path, isClosed: true }
        : undefined;
    },
    mounts: place === undefined ? [] : [readOnlyMount(place, PLACE)],
    env: {
      'core.checkStat': 'minimal',
      ...(place === undefined ? {} : { 'core.excludesFile': `${PLACE}/${EXCLUDES}` }),
    },
  };
}

const NONE: HiddenMounts = { mountOf: () => undefined, mounts: [], env: {} };
const PLACE = '/etc/toolexec';
const EXCLUDES = 'excludes';

/** For a directory: the directory that contains only the versions of its files. */
function sourceOf({ path, type }: GuardedPath, committed: readonly CommittedFile[]): string | undefined {
  if (type === 'file') return committed.find(({ at }) => at === path)?.source;
  const file = committed.find(({ at }) => at.startsWith(`${path}/`));
  return file?.source.slice(0, path.length - file.at.length);
}

/** By the path from the top of the working tree. */
function untracked(
  repositories: readonly Repository[],
  hidden: readonly GuardedPath[],
  committed: readonly CommittedFile[],
): readonly GuardedPath[] {
  const shown = hidden.filter((path) => sourceOf(path, committed) === undefined);
  return repositories.flatMap(({ top }) =>
    shown
      .filter(({ path }) => isWithin(path, top) && path !== top)
      .map(({ path, type }) => ({ path: path.slice(top.length + 1), type })),
  );
}

function keep(excluded: string): string | undefined {
  const known = kept.get(excluded) ?? makeKeptDirectory({ [EXCLUDES]: excluded });
  if (known !== undefined) kept.set(excluded, known);
  return known;
}

/** By the text. */
const kept = new Map<string, string>();

/** Lines for an exclude file. Such a line cannot contain a name with a line feed. */
function excludesOf(paths: readonly GuardedPath[]): string {
  return paths
    .filter(({ path }) => !path.includes('\n'))
    .map(({ path, type }) => {
      const literal = `/${path}`.replace(/[*?[\\]/g, '\\$&');
      return `${literal.replace(/ +$/, (blanks) => '\\ '.repeat(blanks.length))}${type === 'dir' ? '/' : ''}\n`;
    })
    .join('');
}
