import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of our own in the system's temporary directory. */
export interface ScratchDirectory {
  readonly path: string;
  /** Makes a directory in it, and gives its path. */
  directory(name: string): string;
  /** Copies a file into it, and gives the copy's path. */
  copy(from: string, name: string): string;
  /** The text of a file in it; empty where there is none. */
  readText(name: string): string;
  remove(): void;
}

export function makeScratchDirectory(prefix: string): ScratchDirectory {
  const path = mkdtempSync(join(tmpdir(), prefix));
  return {
    path,
    directory(name) {
      const made = join(path, name);
      mkdirSync(made);
      return made;
    },
    copy(from, name) {
      const copied = join(path, name);
      copyFileSync(from, copied);
      return copied;
    },
    readText(name) {
      try {
        return readFileSync(join(path, name), 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
        throw error;
      }
    },
    // What a killed process had started may still be writing its last.
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  };
}
