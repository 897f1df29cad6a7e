import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  setBinaryMode,
} from '../../platform/fs/binary-fs.js';
import type { ScannedRoot } from './found-changes.js';
import { type EntryPrint, printOf } from './transaction-plan.js';

/*
 * Set-user-ID and set-group-ID never come from a command. But a new directory inherits set-group-ID from the one above,
 * as mkdir does it: all that follows in a shared project belongs to its group, and nothing runs with other rights.
 */

export const SET_ID = { reason: 'set-user-ID and set-group-ID are left out', isHarmless: true } as const;
export const SET_ID_OF_DIRECTORY = { ...SET_ID, isDirectory: true } as const;

/**
 * Gives a new directory the bits that it may have. It may move as a whole, so its mode where the command created it is
 * final. Call it for the outer directory first.
 * @returns whether a bit was dropped
 */
export function normalizeSetIds(root: ScannedRoot, path: BinaryPath, entry: BinaryEntry): boolean {
  const mode = (entry.mode & 0o1777) | inheritedBy(root, path);
  if (mode !== entry.mode) setBinaryMode(`${root.upper}/${path}`, mode);
  return (entry.mode & 0o6000 & ~mode) !== 0;
}

function inheritedBy({ lower, upper }: ScannedRoot, path: BinaryPath): number {
  const above = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  const [there, made] = [lower, upper].map((top) => binaryEntry(`${top}/${above}`));
  const parent = there?.kind === 'dir' ? there : made;
  return (parent?.mode ?? 0) & 0o2000;
}

/** The entry without these bits. */
export function plainPrint(entry: BinaryEntry): EntryPrint {
  return printOf(entry, 0o1777);
}

/** Whether a command has given a bit to a directory that existed before. */
export function addsSetIds(entry: BinaryEntry, before: BinaryEntry): boolean {
  return (entry.mode & 0o6000 & ~before.mode) !== 0;
}
