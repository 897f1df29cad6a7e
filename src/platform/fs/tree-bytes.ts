import { type BinaryPath, binaryEntry, binaryNames, setBinaryMode } from './binary-fs.js';

/**
 * What a tree takes on the disk; if it is not near (on another file system than its copy will be), the holes of its files
 * count. Infinity if a path in it is too long to be looked at. No link is followed.
 * @param isEnded nothing changes it any more: a directory that a command has closed is opened for a look
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
    sum += isNear || entry.kind !== 'file' ? entry.bytes : Math.max(entry.bytes, entry.size);
    if (entry.kind !== 'dir') continue;
    const isClosed = isEnded && (entry.mode & 0o500) !== 0o500;
    if (isClosed) setBinaryMode(path, entry.mode | 0o500);
    for (const name of attempt(() => binaryNames(path)) ?? []) waiting.push(`${path}/${name}`);
    if (isClosed) closed.push({ path, mode: entry.mode });
  }
  for (const { path, mode } of closed.reverse()) setBinaryMode(path, mode);
  return sum;
}

/** What is removed while it is looked at has no size. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** The system takes 4,095 bytes; where a change is made its path may be somewhat longer. */
export const LONGEST_PATH = 3800;
