import { basename } from 'node:path';
import type { GuardedPath, GuardedPaths } from '../../contract/processes.js';
import { findRepositories, type Repository } from './git/find-repositories.js';
import { repositoryMounts } from './git/repository-mounts.js';
import { trackedStandIns } from './git/tracked-stand-ins.js';
import type { MountHolder } from './mount-holder.js';

export interface GuardMounts {
  readonly mounts: readonly string[];
  /** What git inside has to be told. */
  readonly git: Readonly<Record<string, string>>;
  /** To be called when the command has ended, and while the holder is open. */
  readonly afterwards: () => void;
}

/**
 * Mounts over what lies inside the roots and is not for commands: empty where it is secret, read-only where it is code.
 * @param standIns directories that commands may fill in the place of others, by the path of those
 * @throws PlaceChanged where something is not what it was when it was judged
 */
export function guardMounts(
  { hidden, readOnly }: Omit<GuardedPaths, 'missing'>,
  roots: readonly string[],
  standIns: ReadonlyMap<string, string>,
  holder: MountHolder,
): GuardMounts {
  const repositories = findRepositories(readOnly, roots);
  const isOwn = ({ path, type }: GuardedPath): boolean => type === 'dir' && basename(path) === '.git';
  const git = [
    ...readOnly.filter(isOwn).map(({ path }) => repositoryMounts(path, false, roots, holder)),
    ...outside(repositories).map(({ common, directory }) =>
      repositoryMounts(common, directory !== common, roots, holder),
    ),
  ];
  const tracked = trackedStandIns(repositories, hidden);
  return {
    mounts: [
      ...readOnly.filter((entry) => !isOwn(entry)).flatMap(({ path }) => holder.readOnly(path)),
      ...git.flatMap(({ mounts }) => mounts),
      ...[...standIns].flatMap(([path, inner]) => holder.writable(inner, path)),
      ...tracked.mounts,
      // Later, so that what is secret within what may be read stays secret.
      ...hidden.flatMap((entry) => tracked.mountOf(entry) ?? empty(entry)),
    ],
    git: tracked.env,
    afterwards() {
      for (const repository of git) repository.afterwards();
    },
  };
}

/** Two roots may be working trees of one. */
function outside(repositories: readonly Repository[]): readonly Repository[] {
  const byCommon = new Map(repositories.filter(({ isOutside }) => isOutside).map((one) => [one.common, one]));
  return [...byCommon.values()];
}

function empty({ path, type }: GuardedPath): readonly string[] {
  return type === 'dir' ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path];
}
