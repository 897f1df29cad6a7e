import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errnoOf } from './fs-errno.js';

/**
 * Makes sure that a file is there and can be written, without opening one that is: to close it would end every lock that
 * this process has on it, those of open journals with them. One that is made is readable by its owner only
 * (0600), and so is every directory that is made for it (0700). What exists keeps its mode.
 *
 * @throws the operating system's error.
 */
export function ensureJournalFile(path: string): void {
  const absolute = resolve(path);
  makeDirectories(dirname(absolute));
  if (statSync(absolute, { throwIfNoEntry: false })?.isFile() === true) accessSync(absolute, constants.W_OK);
  else closeSync(openSync(absolute, 'a', 0o600));
}

// Not Node's `recursive`: it never comes back where a file system says ENOENT for what cannot be made (/proc).
function makeDirectories(path: string): void {
  const refused = makeDirectory(path);
  if (refused === undefined) return;
  if (errnoOf(refused) !== 'ENOENT' || dirname(path) === path) throw refused;
  makeDirectories(dirname(path));
  const refusedAgain = makeDirectory(path);
  if (refusedAgain !== undefined) throw refusedAgain;
}

/** The error, unless the directory is there now. */
function makeDirectory(path: string): unknown {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!existsSync(path)) return error;
  }
  return undefined;
}

/** Makes the names in a file's directory survive a loss of power, where the system can. */
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
