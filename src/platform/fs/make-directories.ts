import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from './fs-entry.js';

/**
 * Makes a directory and those above it, where they are missing. Not Node's `recursive`: it never comes back where a file
 * system says ENOENT for what cannot be made (/proc).
 * @param mode of those that are made; by default they are for this user alone
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

/** The error, unless the directory is there now. */
function makeDirectory(path: string, mode: number): unknown {
  try {
    mkdirSync(path, { mode });
    return undefined;
  } catch (error) {
    return errnoOf(error) === 'EEXIST' ? reasonForMissing(path) : existsSync(path) ? undefined : error;
  }
}

/** Why a name that is taken leads to nothing: a link in a circle, say; undefined where it leads somewhere. */
function reasonForMissing(path: string): unknown {
  try {
    statSync(path);
    return undefined;
  } catch (error) {
    return error;
  }
}
