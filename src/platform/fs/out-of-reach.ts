import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { realPlace } from './probe-place.js';

/**
 * Whether no other user can put something else in the place of a path: every directory above it belongs to this user or
 * to root, and not every user may write into it, unless only owners may remove there (`/tmp`).
 * @param path canonical
 */
export function isOutOfReach(path: string): boolean {
  return flawAbove(path, 'ours') === undefined;
}

/** Whose directories are accepted: this user's and root's, or those of every user. */
type AcceptedOwners = 'ours' | 'any';

/**
 * Why another user could put something else in the place of a file, by what it is called and by where links lead:
 * `every user may write "/srv"`. Undefined where none could, and where files have no owners. Nothing has to be there yet.
 */
export function foreignReach(path: string, owners: AcceptedOwners = 'ours'): string | undefined {
  if (process.geteuid === undefined) return undefined;
  const named = resolve(path);
  return flawAbove(named, owners) ?? flawAbove(realPlace(named), owners);
}

function flawAbove(path: string, owners: AcceptedOwners): string | undefined {
  for (let at = dirname(path); ; at = dirname(at)) {
    const { uid, mode } = look(at);
    const isForeign = uid !== 0 && uid !== process.geteuid?.() && owners === 'ours';
    if (isForeign && !isUnknownOwner(uid)) return `"${at}" belongs to another user (${uid})`;
    if ((mode & OTHERS_WRITE) !== 0 && (mode & ONLY_OWNERS_REMOVE) === 0)
      return `every user may write "${at}"`;
    if (at === dirname(at)) return undefined;
  }
}

/** What cannot be looked at cannot be used either, and its use says why. */
function look(path: string): { readonly uid: number; readonly mode: number } {
  try {
    return statSync(path);
  } catch {
    return { uid: 0, mode: 0 };
  }
}

const OTHERS_WRITE = 0o002;
const ONLY_OWNERS_REMOVE = 0o1000;

/** In a user namespace the owners that it does not know, root among them, are shown as one. */
function isUnknownOwner(uid: number): boolean {
  try {
    const [first, , count] = readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/);
    if (first === '0' && count === '4294967295') return false;
    return uid === Number(readFileSync('/proc/sys/kernel/overflowuid', 'utf8'));
  } catch {
    return false;
  }
}
