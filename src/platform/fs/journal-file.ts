import { accessSync, closeSync, constants, openSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeDirectories } from './make-directories.js';

/**
 * Makes sure that a regular, writable file exists, without opening an existing one: closing it would release
 * every lock of this process on it, including those of open journals. A new file is readable by its owner
 * only (0600), as are new directories (0700). Existing ones keep their mode.
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
  // A pipe that appears meanwhile returns an error instead of waiting for a reader.
  closeSync(openSync(absolute, constants.O_WRONLY | constants.O_CREAT | (constants.O_NONBLOCK ?? 0), 0o600));
}

/** The path is taken by an entry that cannot hold a file. */
export class NotARegularFile extends Error {
  /** @param kind its kind with an article: `a pipe`. */
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

/** Identifies the file at a path until it is removed or replaced; undefined if there is none. */
export function fileIdentity(path: string): FileIdentity | undefined {
  const found = statSync(path, QUIETLY);
  return found === undefined ? undefined : { dev: found.dev, ino: found.ino };
}

export function leadsTo(path: string, { dev, ino }: FileIdentity): boolean {
  const found = statSync(path, QUIETLY);
  return found?.ino === ino && found.dev === dev;
}

const QUIETLY = { throwIfNoEntry: false } as const;

/** Whether a file and its directory are writable. */
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

/** @throws the operating system's error if no further file can be opened. */
export function assertCanOpen(): void {
  closeSync(openSync('/', constants.O_RDONLY));
}
