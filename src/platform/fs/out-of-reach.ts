import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Whether no other user can put something else in the place of a path: every directory above it belongs to this user or
 * to root, and not every user may write into it, unless only owners may remove there (`/tmp`).
 * @param path canonical
 * @throws the operating system's error
 */
export function isOutOfReach(path: string): boolean {
  for (let at = dirname(path); ; at = dirname(at)) {
    const { uid, mode } = statSync(at);
    if (uid !== 0 && uid !== process.geteuid?.() && !isUnknownOwner(uid)) return false;
    if ((mode & OTHERS_WRITE) !== 0 && (mode & ONLY_OWNERS_REMOVE) === 0) return false;
    if (at === dirname(at)) return true;
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
