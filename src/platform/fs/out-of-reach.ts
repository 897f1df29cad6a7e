import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { realPlace } from './probe-place.js';

/**
 * Whether no other user can replace the entry at a path: this user or root owns every directory above it, and
 * others can write none of them, except sticky ones (`/tmp`).
 * @param path canonical
 */
export function isOutOfReach(path: string): boolean {
  return flawAbove(path, 'ours') === undefined;
}

/** The accepted owners of directories: this user and root, or every user. */
type AcceptedOwners = 'ours' | 'any';

/**
 * Why another user could replace the file at a path, by its names and its links: `every user may write
 * "/srv"`. Undefined if none could, and on systems without owners. The file need not exist.
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

/** An entry that cannot be examined cannot be used either, and its use reports the reason. */
function look(path: string): { readonly uid: number; readonly mode: number } {
  try {
    return statSync(path);
  } catch {
    return { uid: 0, mode: 0 };
  }
}

const OTHERS_WRITE = 0o002;
const ONLY_OWNERS_REMOVE = 0o1000;

/** A user namespace shows all unknown owners, including root, as one. */
function isUnknownOwner(uid: number): boolean {
  try {
    const [first, , count] = readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/);
    if (first === '0' && count === '4294967295') return false;
    return uid === Number(readFileSync('/proc/sys/kernel/overflowuid', 'utf8'));
  } catch {
    return false;
  }
}
