import { type BinaryEntry, type BinaryPath, binaryEntry, binaryNames, setBinaryMode } from './binary-fs.js';

/**
 * The disk space that a tree takes. If its copy will be on another file system, holes in its files count as
 * well. Infinity if a path in it is too long to be examined. No link is followed.
 * @param isEnded whether nothing changes the tree any more: then directories that a command has locked are
 * opened
 */
export function treeBytes(
  top: BinaryPath,
  { isNear, isEnded }: Record<'isNear' | 'isEnded', boolean>,
): number {
  let sum = 0;
  const waiting = [top];
  const closed: { readonly path: BinaryPath; readonly mode: number }[] = [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (path.length > LONGEST_PATH) return Number.POSITIVE_INFINITY;
    const entry = attempt(() => binaryEntry(path));
    if (entry === undefined) continue;
    sum += spaceOf(entry, isNear);
    if (entry.kind !== 'dir') continue;
    const isClosed = isEnded && (entry.mode & 0o500) !== 0o500;
    if (isClosed) setBinaryMode(path, entry.mode | 0o500);
    for (const name of attempt(() => binaryNames(path)) ?? []) waiting.push(`${path}/${name}`);
    if (isClosed) closed.push({ path, mode: entry.mode });
  }
  for (const { path, mode } of closed.reverse()) setBinaryMode(path, mode);
  return sum;
}

/** @param isNear false: the entry will be copied to another file system, where holes in it are filled */
export function spaceOf({ kind, bytes, size }: BinaryEntry, isNear: boolean): number {
  return isNear || kind !== 'file' ? bytes : Math.max(bytes, size);
}

/** A file that is removed meanwhile has no size. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** The system accepts 4,095 bytes; at the place where a change is made, the path may be somewhat longer. */
export const LONGEST_PATH = 3800;
