import { type Stats, statSync } from 'node:fs';

/**
 * Why another user could have written the entry at `path`: its owner or its permissions. Undefined if none
 * could, if nothing is there, and on systems without user ids. A group with the user's own number has no
 * other members.
 */
export function foreignFlaw(path: string): string | undefined {
  const user = process.geteuid?.();
  const entry = user === undefined ? undefined : entryOf(path);
  if (user === undefined || entry === undefined) return undefined;
  const { uid, gid, mode } = entry;
  if (uid !== user && uid !== 0) return `belongs to another user (${uid})`;
  if ((mode & 0o002) !== 0) return 'can be written by every user';
  if ((mode & 0o020) !== 0 && gid !== uid) return `can be written by a group (${gid})`;
  return undefined;
}

function entryOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Reading it will report the reason.
    return undefined;
  }
}
