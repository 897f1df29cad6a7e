import { dirname } from 'node:path';
import type { Confinement } from '../contract/processes.js';
import { targetOf } from '../platform/fs/fs-entry.js';
import { isWithin } from './sandbox/mount-holder.js';
import { networkMounts, systemMounts } from './sandbox/system-mounts.js';

/** The absolute paths that the sandbox refuses to every command. */
export interface RefusedPaths {
  /** Commands can neither create nor change anything there. */
  readonly isReadOnly: (path: string) => boolean;
  /** A mount prevents commands from replacing it. */
  readonly isGuarded: (path: string) => boolean;
  /** A deny pattern hides it, whether it exists or not: a command must not learn that. */
  readonly isHidden: (path: string) => boolean;
  /** It lies outside the visible paths. */
  readonly isOutside: (path: string) => boolean;
}

/** @param env of the command */
export function refusedPaths(confinement: Confinement, env: Readonly<Record<string, string>>): RefusedPaths {
  const { roots, readable, guarded, transactions, network } = confinement;
  const isIn = (path: string, places: readonly string[]): boolean =>
    places.some((place) => isWithin(path, place));
  const writable = [...roots, '/tmp', '/dev', ...(env.HOME === undefined ? [] : [env.HOME])];
  const isHidden = (path: string): boolean =>
    isIn(path, roots) &&
    (transactions?.isHidden(path) ?? guarded().hidden.some((entry) => isWithin(path, entry.path)));
  return {
    isReadOnly: (path) => !isIn(path, writable),
    isGuarded: (path) => isGuarded(path, confinement) && !isHidden(path),
    isHidden,
    isOutside(path) {
      const shown = [...roots, ...readable, ...shownPlaces(network)];
      const isSeen = isIn(path, shown) || shown.some((place) => isWithin(place, path));
      return !isSeen && isKept(path);
    },
  };
}

function isGuarded(path: string, { roots, guarded }: Confinement): boolean {
  if (!roots.some((root) => isWithin(path, root))) return false;
  return /\/\.git\//.test(path) || guarded().readOnly.some((entry) => isWithin(path, entry.path));
}

function shownPlaces(network: boolean): readonly string[] {
  const mounts = [...systemMounts(), ...(network ? networkMounts() : [])];
  return mounts.filter((argument) => argument.startsWith('/'));
}

/**
 * Whether a path of the machine is kept from the command. If every user may list the directories on the way,
 * that depends on whether it exists. Elsewhere (for example in a home directory) a command must not learn
 * that, so the answer is always yes.
 */
function isKept(path: string): boolean {
  for (let at = dirname(path); ; at = dirname(at)) {
    const mode = targetOf(at)?.mode;
    if (mode !== undefined && (mode & 0o5) !== 0o5) return true;
    if (at === '/') return targetOf(path) !== undefined;
  }
}
