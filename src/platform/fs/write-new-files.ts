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
 * Writes files that do not exist yet, and the directories that they need. If any of the files exists, none is
 * written.
 * @returns the path of the file that exists already; undefined if all were written.
 */
export function writeNewFiles(directory: string, files: readonly NewFile[]): string | undefined {
  const taken = files.map(({ path }) => join(directory, path)).find((path) => existsSync(path));
  if (taken !== undefined) return taken;
  for (const { path, text, executable } of files) {
    const place = join(directory, path);
    makeDirectories(dirname(place), 0o755);
    writeFileSync(place, text, { flag: 'wx' });
    // Independent of the umask: a program that others may write is refused.
    chmodSync(place, executable ? 0o755 : 0o644);
  }
  return undefined;
}
