import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { openUnnamedFile } from '../fs/scratch.js';

/** An open file without a name in any directory. A process that inherits it can be recognized by it. */
export interface MarkFile {
  readonly fd: number;
  /**
   * The name that `/proc/<pid>/fd` shows for this file. No other file has this name while any process has
   * this one open.
   */
  readonly name: string;
}

/** Undefined if the system has no such files. The file is empty and cannot be written. */
export function openMarkFile(): MarkFile | undefined {
  const writable = openUnnamedFile(0o400);
  if (writable === undefined) return undefined;
  try {
    const fd = openSync(`/proc/self/fd/${writable}`, constants.O_RDONLY);
    return { fd, name: readlinkSync(`/proc/self/fd/${fd}`) };
  } catch {
    return undefined;
  } finally {
    closeSync(writable);
  }
}

export function closeMarkFile({ fd }: MarkFile): void {
  closeSync(fd);
}
