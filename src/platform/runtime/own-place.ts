import { join, resolve } from 'node:path';
import { covers } from '../../base/covers.js';
import { foreignReach } from '../fs/out-of-reach.js';
import { stateDirectory } from './environment.js';

/**
 * Why another user could replace a file of this program: `every user may write "/srv"`. A path named by the caller may
 * lie in another user's directory, such as a container's volume; a path in the state directory may not.
 */
export function reachOfOthers(path: string): string | undefined {
  const file = resolve(path);
  return foreignReach(file, covers(join(stateDirectory(), 'toolexec'), file) ? 'ours' : 'any');
}

/** @throws WithinReach */
export function assertOutOfReach(path: string): void {
  const why = reachOfOthers(path);
  if (why !== undefined) throw new WithinReach(why);
}

export class WithinReach extends Error {
  /** @param why as returned by `reachOfOthers` */
  constructor(why: string) {
    super(`other users could replace it: ${why}`);
  }
}

export const REACH_REMEDY = 'Choose another place, or let only its owner write there (chmod o-w).';
