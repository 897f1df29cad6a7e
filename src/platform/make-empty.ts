import { closeSync, mkdirSync, openSync, unlinkSync } from 'node:fs';

/** Makes a directory where nothing is, if that can be done. */
export function makeEmptyDirectory(path: string): void {
  attempt(() => mkdirSync(path));
}

/** The same with a file. */
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
