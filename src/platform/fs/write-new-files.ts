import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectories } from './make-directories.js';

export interface NewFile {
  /** Relative to the directory. */
  readonly path: string;
  readonly text: string;
  readonly executable: boolean;
}

/**
 * Writes files that are not there yet, and the directories that they need: none where one of them is there.
 * @returns the path of the file that is in the way; undefined: all are written.
 */
export function writeNewFiles(directory: string, files: readonly NewFile[]): string | undefined {
  const taken = files.map(({ path }) => join(directory, path)).find((path) => existsSync(path));
  if (taken !== undefined) return taken;
  for (const { path, text, executable } of files) {
    const place = join(directory, path);
    makeDirectories(dirname(place), 0o755);
    writeFileSync(place, text, { flag: 'wx' });
    // Whatever the umask lets through: a program that others may write is refused.
    chmodSync(place, executable ? 0o755 : 0o644);
  }
  return undefined;
}
