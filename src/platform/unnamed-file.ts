import { constants, openSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** A new file without a name in any directory, open for both. Undefined where the system has no such files. */
export function openUnnamedFile(mode: number): number | undefined {
  for (const folder of ['/dev/shm', tmpdir()]) {
    try {
      return openSync(folder, O_TMPFILE | constants.O_RDWR, mode);
    } catch {
      // There is no such folder, or its file system cannot.
    }
  }
  return undefined;
}

/** Linux's O_TMPFILE; Node does not name it. */
const O_TMPFILE = 0o20_000_000 | constants.O_DIRECTORY;
