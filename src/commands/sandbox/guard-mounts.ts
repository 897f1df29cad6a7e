import { basename, dirname } from 'node:path';
import type { GuardedPath, GuardedPaths } from '../../contract/files.js';
import type { Confinement } from '../../contract/processes.js';
import { type EntryStat, entryStat } from '../../platform/fs/fs-entry.js';
import type { CommittedFile } from './git/committed-versions.js';
import { disarmPlanted, gitEntries, watchGitLinks } from './git/disarm-planted.js';
import { findRepositories, type Repository } from './git/find-repositories.js';
import { hiddenMounts } from './git/hidden-mounts.js';
import { repositoryMounts } from './git/repository-mounts.js';
import { isWithin, type Mount, type MountHolder, readOnlyMount } from './mount-holder.js';

export interface GuardMounts {
  /** Inside the roots; what comes later lies over what came before. */
  readonly mounts: readonly Mount[];
  /** Of what git inside has to be told, elsewhere. */
  readonly besides: readonly Mount[];
  readonly git: Readonly<Record<string, string>>;
  /** As long as the holder is open. */
  readonly watch: GuardWatch;
}

/** What becomes of the guards while a command runs. */
export interface GuardWatch {
  /** To be called when the command has been started. Left out: it began when the sandbox was built. */
  readonly begin?: () => void;
  /** Directories in which something may happen that counts, and files to which. */
  readonly watched: readonly string[];
  /**
   * What was guarded and is another file now, or has another name: to replace it takes the guard off.
   * @param at one of `watched`, where something has happened. Left out: everything is looked at.
   */
  readonly lost: (at?: string) => readonly string[];
  /** Takes away what makes git run programs and was not there before; all that was found so far. */
  readonly disarm: (isLast?: 'last') => readonly string[];
  /** To be called when the command has ended, or was never started. */
  readonly end: () => void;
}

/**
 * Mounts over what lies inside the roots and is not for commands: empty where it is secret, read-only where it is code.
 * @param placeholders directories that commands may fill in the place of others, by the path of those
 * @param committed what is shown in the place of hidden files that git tracks; undefined: that is not known
 * @throws PlaceChanged where something is not what it was when it was looked at
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
    // Later, so that what is secret within what may be read stays secret.
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
    git: tracked.env,
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

/** Of what is no more than covered: what a command may write in is no secret, and runs nothing. */
function identitiesOf(mounts: readonly Mount[]): ReadonlyMap<string, Identity> {
  const covered = mounts.filter(
    (mount) =>
      mount.kind === 'empty' ||
      mount.isReadOnly ||
      (basename(mount.target) === '.git' && mount.source === mount.target),
  );
  return new Map(covered.map((mount) => [mount.target, identityOf(mount)]));
}

/** What tells a guarded entry from any other one. */
interface Identity {
  /** With its birth: the number of a file that was removed is that of the next one that is made. */
  readonly inode: string;
  /** Names of what is hidden: under another one it is not. */
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
    // The way there is closed, or leads in a circle.
    return true;
  }
}

function inodeOf(stat: EntryStat | undefined): string {
  return `${stat?.dev}:${stat?.ino}:${stat?.birthtimeMs}`;
}

/**
 * The directories between a root and what is guarded, the outer ones first. Each is mounted over itself, and the kernel
 * moves no directory that something is mounted on: else a command would move it to where the next one finds what is in
 * it unguarded.
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

/** Two roots may be working trees of one. */
function outside(repositories: readonly Repository[]): readonly Repository[] {
  const byCommon = new Map(repositories.filter(({ isOutside }) => isOutside).map((one) => [one.common, one]));
  return [...byCommon.values()];
}

function empty({ path, type }: GuardedPath): Mount {
  return type === 'dir' ? { kind: 'empty', target: path, isClosed: false } : readOnlyMount('/dev/null', path);
}
