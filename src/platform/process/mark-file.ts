import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { openUnnamedFile } from '../fs/scratch.js';

/** An open file without a name in any directory, by which a process that inherits it can be known. */
export interface MarkFile {
  readonly fd: number;
  /** What `/proc/<pid>/fd` shows for it, and for no other file while any process has it open. */
  readonly name: string;
}

/** Undefined where the system has no such files. It is empty and cannot be written to. */
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
