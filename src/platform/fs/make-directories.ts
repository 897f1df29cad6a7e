import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from './fs-entry.js';

/**
 * Creates a directory and its missing parents. Node's `recursive` never returns if a file system reports
 * ENOENT for an impossible directory (/proc).
 * @param mode of new directories; default: for this user alone
 * @throws the operating system's error
 */
export function makeDirectories(path: string, mode = 0o700): void {
  const refused = makeDirectory(path, mode);
  if (refused === undefined) return;
  if (errnoOf(refused) !== 'ENOENT' || dirname(path) === path) throw refused;
  makeDirectories(dirname(path), mode);
  const refusedAgain = makeDirectory(path, mode);
  if (refusedAgain !== undefined) throw refusedAgain;
}

/** The error, unless the directory exists now. */
function makeDirectory(path: string, mode: number): unknown {
  try {
    mkdirSync(path, { mode });
    return undefined;
  } catch (error) {
    return errnoOf(error) === 'EEXIST' ? reasonForMissing(path) : existsSync(path) ? undefined : error;
  }
}

/** Why an existing name has no target, for example a circular link; undefined if it has one. */
function reasonForMissing(path: string): unknown {
  try {
    statSync(path);
    return undefined;
  } catch (error) {
    return error;
  }
}
