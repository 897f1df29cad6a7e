import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';

/**
 * A new file without a name in any directory, open for both, at its beginning. Undefined where the system has no such
 * files, or no room for `content`.
 */
export function openUnnamedFile(mode: number, content = ''): number | undefined {
  for (const folder of ['/dev/shm', tmpdir()]) {
    const fd = tryFolder(folder, mode, content);
    if (fd !== undefined) return fd;
  }
  return undefined;
}

function tryFolder(folder: string, mode: number, content: string): number | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(folder, O_TMPFILE | constants.O_RDWR, mode);
    if (content !== '' && writeSync(fd, content, 0) < content.length)
      throw new RangeError('The disk is full.');
    return fd;
  } catch {
    // There is no such folder, its file system cannot, or is full.
    if (fd !== undefined) closeSync(fd);
    return undefined;
  }
}

/** Linux's O_TMPFILE; Node does not name it. */
const O_TMPFILE = 0o20_000_000 | constants.O_DIRECTORY;
