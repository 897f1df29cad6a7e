import { accessSync, closeSync, constants, openSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeDirectories } from './make-directories.js';

/**
 * Makes sure that a regular file is there and can be written, without opening one that is: to close it would end every
 * lock that this process has on it, those of open journals with them. One that is made is readable by its owner only
 * (0600), and so is every directory that is made for it (0700). What exists keeps its mode.
 *
 * @throws NotARegularFile; the operating system's error.
 */
export function ensureJournalFile(path: string): void {
  const absolute = resolve(path);
  makeDirectories(dirname(absolute));
  const found = statSync(absolute, { throwIfNoEntry: false });
  if (found !== undefined) {
    if (!found.isFile()) throw new NotARegularFile(kindOf(found));
    accessSync(absolute, constants.W_OK);
    return;
  }
  // A pipe that comes in between answers with an error, instead of waiting for its reader.
  closeSync(openSync(absolute, constants.O_WRONLY | constants.O_CREAT | (constants.O_NONBLOCK ?? 0), 0o600));
}

/** A place is taken by what no file can be kept in. */
export class NotARegularFile extends Error {
  /** @param kind what it is, with its article: `a pipe`. */
  constructor(readonly kind: string) {
    super(`it is ${kind}`);
  }
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a directory';
  if (found.isFIFO()) return 'a pipe';
  return found.isSocket() ? 'a socket' : 'a device';
}

export interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
}

/** Which file a path leads to: the same as long as it is not removed or replaced; undefined where there is none. */
export function fileIdentity(path: string): FileIdentity | undefined {
  const found = statSync(path, QUIETLY);
  return found === undefined ? undefined : { dev: found.dev, ino: found.ino };
}

export function leadsTo(path: string, { dev, ino }: FileIdentity): boolean {
  const found = statSync(path, QUIETLY);
  return found?.ino === ino && found.dev === dev;
}

const QUIETLY = { throwIfNoEntry: false } as const;

/** Whether a file and its directory can be written. */
export function isWritableFile(path: string): boolean {
  const absolute = resolve(path);
  try {
    accessSync(absolute, constants.W_OK);
    accessSync(dirname(absolute), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** @throws the operating system's error where no file can be opened any more, whichever it is. */
export function assertCanOpen(): void {
  closeSync(openSync('/', constants.O_RDONLY));
}
