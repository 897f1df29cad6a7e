import { basename, dirname } from 'node:path';
import type { GuardedPath, GuardedPaths } from '../../contract/files.js';
import type { Confinement } from '../../contract/processes.js';
import { type EntryStat, entryStat } from '../../platform/fs/fs-entry.js';
import type { CommittedFile } from './git/committed-versions.js';
import { disarmPlanted, gitEntries, watchGitLinks } from './git/disarm-planted.js';
import { findRepositories, type Repository } from './git/find-repositories.js';
import { hiddenMounts } from './git/hidden-mounts.js';
import { LEAVES_SETTINGS, repositoryMounts } from './git/repository-mounts.js';
import { isWithin, type Mount, type MountHolder, readOnlyMount } from './mount-holder.js';

export interface GuardMounts {
  /** Inside the roots; later ones cover earlier ones. */
  readonly mounts: readonly Mount[];
  /** Elsewhere, for git inside. */
  readonly besides: readonly Mount[];
  readonly git: Readonly<Record<string, string>>;
  /** Valid while the holder is open. */
  readonly watch: GuardWatch;
}

/** Watches protected files while a command runs. */
export interface GuardWatch {
  /** Call it when the command has started. If absent: watching began when the sandbox was built. */
  readonly begin?: () => void;
  /** Directories and files whose events matter. */
  readonly watched: readonly string[];
  /**
   * Protected entries that were replaced or renamed, which removes their protection.
   * @param at one of `watched`, where an event happened. If absent: everything is checked.
   */
  readonly lost: (at?: string) => readonly string[];
  /** Disables new files that make git run programs; returns all that were found so far. */
  readonly disarm: (isLast?: 'last') => readonly string[];
  /** Call it when the command has ended, or was never started. */
  readonly end: () => void;
}

/**
 * Mounts over protected paths inside the roots: empty for secrets, read-only for code.
 * @param placeholders directories that commands may fill in place of others, by the path of those
 * @param committed the committed versions of hidden files that git tracks; undefined if unknown
 * @throws PlaceChanged if an entry has changed since it was examined
 */
export function guardMounts(
  { hidden, readOnly }: Pick<GuardedPaths, 'hidden' | 'readOnly'>,
  { roots, guarded }: Pick<Confinement, 'roots' | 'guarded'>,
  placeholders: ReadonlyMap<string, string>,
  holder: MountHolder,
  committed: readonly CommittedFile[] | undefined,
): GuardMounts {
  const repositories = findRepositories(readOnly, roots);
  const isOwn = ({ path, type }: GuardedPath): boolean => type === 'dir' && basename(path) === '.git';
  const git = [
    ...readOnly.filter(isOwn).map(({ path }) => repositoryMounts(path, false, roots, holder)),
    ...outside(repositories).map(({ common, directory }) =>
      repositoryMounts(common, directory !== common, roots, holder),
    ),
  ];
  const tracked = hiddenMounts(repositories, hidden, committed);
  const mounts = [
    ...ancestors([...hidden, ...readOnly], roots).map((path) => holder.writable(path)),
    ...readOnly.filter((entry) => !isOwn(entry)).map(({ path }) => holder.readOnly(path)),
    ...git.flatMap((one) => one.mounts),
    ...[...placeholders].map(([path, inner]) => holder.writable(inner, path)),
    // Later, so that secrets inside readable directories stay hidden.
    ...hidden.map((entry) => tracked.mountOf(entry) ?? empty(entry)),
  ];
  const identities = identitiesOf(mounts);
  const known = new Set([...gitEntries(readOnly), ...placeholders.keys()]);
  const links = watchGitLinks(repositories);
  const disarmed = new Set<string>();
  let isDone = false;
  return {
    mounts,
    besides: tracked.mounts,
    git: git.length === 0 ? tracked.env : { ...LEAVES_SETTINGS, ...tracked.env },
    watch: {
      watched: [
        ...new Set(
          [...identities.keys()].flatMap((path) => [
            dirname(path),
            ...(basename(path) === '.git' ? [path] : []),
          ]),
        ),
      ],
      lost: () => [...identities].filter(([path, was]) => isLost(path, was)).map(([path]) => path),
      disarm(isLast) {
        isDone = isLast !== undefined;
        for (const repository of git) repository.takeAway();
        for (const path of [...gitEntries(guarded().readOnly), ...links()])
          if (!known.has(path) && disarmPlanted(path, known, isLast === undefined)) disarmed.add(path);
        return [...disarmed];
      },
      end() {
        if (!isDone) this.disarm('last');
        for (const repository of git) repository.tidy();
      },
    },
  };
}

/** Returns only read-only and hidden entries: a writable one is not secret and runs no code. */
function identitiesOf(mounts: readonly Mount[]): ReadonlyMap<string, Identity> {
  const covered = mounts.filter(
    (mount) =>
      mount.kind === 'empty' ||
      mount.isReadOnly ||
      (basename(mount.target) === '.git' && mount.source === mount.target),
  );
  return new Map(covered.map((mount) => [mount.target, identityOf(mount)]));
}

/** Identifies a protected entry. */
interface Identity {
  /** With its birth time, because inode numbers are reused. */
  readonly inode: string;
  /** The number of names of a hidden file: under another name it is visible. */
  readonly names: number;
}

function identityOf(mount: Mount): Identity {
  const { target } = mount;
  const stat = entryStat(target);
  const isHidden = mount.kind === 'bind' && mount.source !== target && stat?.isFile() === true;
  return { inode: inodeOf(stat), names: isHidden ? (stat?.nlink ?? 0) : Number.POSITIVE_INFINITY };
}

function isLost(path: string, { inode, names }: Identity): boolean {
  try {
    const stat = entryStat(path);
    return inodeOf(stat) !== inode || (stat?.nlink ?? 0) > names;
  } catch {
    // The path to it is inaccessible, or a loop of links.
    return true;
  }
}

function inodeOf(stat: EntryStat | undefined): string {
  return `${stat?.dev}:${stat?.ino}:${stat?.birthtimeMs}`;
}

/**
 * The directories between a root and protected entries, outermost first. Each is mounted over itself, because
 * the kernel does not move a mount point: otherwise a command could move it to a place where the next command
 * finds its content unprotected.
 */
function ancestors(guarded: readonly GuardedPath[], roots: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const { path } of guarded) {
    const root = roots.find((place) => isWithin(path, place));
    if (root === undefined) continue;
    for (let at = dirname(path); at.length > root.length && !found.has(at); at = dirname(at)) found.add(at);
  }
  return [...found].filter((path) => !roots.includes(path)).sort();
}

/** Two roots may be working trees of one repository. */
function outside(repositories: readonly Repository[]): readonly Repository[] {
  const byCommon = new Map(repositories.filter(({ isOutside }) => isOutside).map((one) => [one.common, one]));
  return [...byCommon.values()];
}

function empty({ path, type }: GuardedPath): Mount {
  return type === 'dir' ? { kind: 'empty', target: path, isClosed: false } : readOnlyMount('/dev/null', path);
}
