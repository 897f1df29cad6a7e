import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from './fs-entry.js';
import { makeDirectories } from './make-directories.js';

/**
 * The text of a small file that only its owner can read (0600). If there is none, it is made with `make()`,
 * complete and synced to disk, along with missing directories (0700). If several processes make it at once,
 * all get the same text.
 * @throws the operating system's error
 */
export function ensureSecretFile(path: string, make: () => string): string {
  const found = readIfThere(path);
  if (found !== undefined) return found;
  makeDirectories(dirname(path));
  const own = `${path}.${process.pid}.${process.hrtime.bigint()}`;
  const descriptor = openSync(own, 'wx', 0o600);
  try {
    try {
      writeSync(descriptor, make());
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    linkSync(own, path);
  } catch (error) {
    // Another process was faster.
    if (errnoOf(error) !== 'EEXIST') throw error;
  } finally {
    unlinkSync(own);
  }
  return readFileSync(path, 'utf8');
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
