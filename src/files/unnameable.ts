import { join } from 'node:path';
import { type BinaryPath, binaryEntry, readableNames, toBinary, toText } from '../platform/fs/binary-fs.js';
import { entryStat } from '../platform/fs/fs-entry.js';
import type { Containment } from './containment.js';

/*
 * A name on Linux need not be UTF-8. The OS sandbox takes paths as text, so it can guard neither such an entry nor the
 * entries of such a directory.
 */

/** Whether a name, as the system gave it, stands for other bytes. */
export function isUnnameable(directory: string, name: string): boolean {
  if (!name.includes('\ufffd')) return false;
  try {
    return entryStat(join(directory, name)) === undefined;
  } catch {
    // Commands cannot reach it either.
    return false;
  }
}

/** The maximum number of entries to read below a directory. */
const MOST_ENTRIES = 10_000;

/** Whether deny patterns cover an entry that cannot be named, or there are too many to tell. */
export function holdsUnnameable({ deniesCommands }: Containment, directory: string): boolean {
  let left = MOST_ENTRIES;
  const isDenied = (path: BinaryPath): boolean => {
    if (left-- === 0 || deniesCommands.deniedBy(toText(path), 'write') !== undefined) return true;
    return kindAt(path) === 'dir' && readableNames(path).some((name) => isDenied(`${path}/${name}`));
  };
  const at = toBinary(directory);
  return readableNames(at).some((name) => toBinary(toText(name)) !== name && isDenied(`${at}/${name}`));
}

function kindAt(path: BinaryPath): string | undefined {
  try {
    return binaryEntry(path)?.kind;
  } catch {
    return undefined;
  }
}
