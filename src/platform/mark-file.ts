import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** An open file without a name in any directory, which whoever inherits it can be known by. */
export interface MarkFile {
  readonly fd: number;
  /** What `/proc/<pid>/fd` shows for it, and for no other file while anybody has it open. */
  readonly name: string;
}

/** Undefined where the system has no such files. It is empty and cannot be written to. */
export function openMarkFile(): MarkFile | undefined {
  for (const folder of ['/dev/shm', tmpdir()]) {
    const fd = openUnnamed(folder);
    if (fd !== undefined) return { fd, name: readlinkSync(`/proc/self/fd/${fd}`) };
  }
  return undefined;
}

export function closeMarkFile({ fd }: MarkFile): void {
  closeSync(fd);
}

/** Linux's O_TMPFILE; Node does not name it. */
const O_TMPFILE = 0o20_000_000 | constants.O_DIRECTORY;

function openUnnamed(folder: string): number | undefined {
  try {
    const writable = openSync(folder, O_TMPFILE | constants.O_RDWR, 0o400);
    try {
      return openSync(`/proc/self/fd/${writable}`, constants.O_RDONLY);
    } finally {
      closeSync(writable);
    }
  } catch {
    return undefined;
  }
}
