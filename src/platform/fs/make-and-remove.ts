import { closeSync, mkdirSync, openSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { makeDirectories } from './make-directories.js';

/** Makes a directory where nothing is, if that can be done. */
export function makeEmptyDirectory(path: string): void {
  attempt(() => mkdirSync(path));
}

/** Makes a directory and those above it, for this user alone, if that can be done. */
export function makePrivateDirectories(path: string): void {
  attempt(() => makeDirectories(path));
}

/** Makes an empty file where nothing is. */
export function makeEmptyFile(path: string): void {
  attempt(() => closeSync(openSync(path, 'wx', 0o644)));
}

/** Removes a file or a link, if it is there. Not a directory: looking through one could be led elsewhere. */
export function removeFile(path: string): void {
  attempt(() => unlinkSync(path));
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // Something is there already, or nothing; or it is not ours to change.
  }
}

/** With all that is in it, if it is there and can be removed. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It is not ours to remove.
  }
}

/** Takes one name away, without a look at what it is. */
export function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is gone, which is what was wanted.
  }
}

/** @throws the system's error, `EEXIST` where anything is there already. */
export function writeNewFile(path: string, text: string): void {
  writeFileSync(path, text, { flag: 'wx' });
}
