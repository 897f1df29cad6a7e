import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes a file's contents survive a power failure. @throws the operating system's error */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the names in a file's directory survive a power failure, if the system can do that. */
export function syncDirectoryOf(path: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(dirname(resolve(path)), 'r');
  } catch {
    // A directory that may be searched but not read, or Windows.
    return;
  }
  try {
    fsyncSync(descriptor);
  } catch {
    // Some file systems refuse it; they keep names in order by themselves.
  } finally {
    closeSync(descriptor);
  }
}
