import { dirname } from 'node:path';
import type { Confinement } from '../contract/processes.js';
import { targetOf } from '../platform/fs/fs-entry.js';
import { isWithin } from './sandbox/mount-holder.js';
import { networkMounts, systemMounts } from './sandbox/system-mounts.js';

/** What the sandbox refuses to every command, by absolute paths. */
export interface RefusedPaths {
  /** It lies where commands can neither make nor change anything. */
  readonly isReadOnly: (path: string) => boolean;
  /** A mount keeps commands from replacing it. */
  readonly isGuarded: (path: string) => boolean;
  /** A deny pattern hides it. Whether it is there makes no difference: that is not for a command to know. */
  readonly isHidden: (path: string) => boolean;
  /** It lies outside of what commands are shown. */
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
 * Whether something of the machine is kept from the command at a path. Where every user of the machine may list the
 * directories on the way, that is so if something is there. Elsewhere (a home directory, say) a command does not learn
 * that: the answer is always yes.
 */
function isKept(path: string): boolean {
  for (let at = dirname(path); ; at = dirname(at)) {
    const mode = targetOf(at)?.mode;
    if (mode !== undefined && (mode & 0o5) !== 0o5) return true;
    if (at === '/') return targetOf(path) !== undefined;
  }
}
