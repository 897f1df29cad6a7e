import { closeSync, mkdirSync, openSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { makeDirectories } from './make-directories.js';

/** Creates a directory if nothing is there and it is possible. */
export function makeEmptyDirectory(path: string): void {
  attempt(() => mkdirSync(path));
}

/** Removes a directory if it is empty. */
export function removeEmptyDirectory(path: string): void {
  attempt(() => rmdirSync(path));
}

/** Creates a directory and its parents for this user alone, if possible. */
export function makePrivateDirectories(path: string): void {
  attempt(() => makeDirectories(path));
}

/** Creates an empty file if nothing is there. */
export function makeEmptyFile(path: string): void {
  attempt(() => closeSync(openSync(path, 'wx', 0o644)));
}

/** Removes a file or link, if it exists. Not a directory, because walking one could be redirected. */
export function removeFile(path: string): void {
  attempt(() => unlinkSync(path));
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // An entry exists, or the change is not permitted.
  }
}

/** Removes an entry with its content, if it exists and that is permitted. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Removal is not permitted.
  }
}

/** Removes one name of any kind of entry. */
export function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is gone already.
  }
}

/** @throws the system's error, `EEXIST` if an entry exists. */
export function writeNewFile(path: string, text: string): void {
  writeFileSync(path, text, { flag: 'wx' });
}
