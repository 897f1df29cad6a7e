import {
  accessSync,
  constants,
  type Dir,
  type Dirent,
  existsSync,
  opendirSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errnoOf } from './fs-entry.js';

export interface Place {
  readonly exists: boolean;
  /** Whether the file, or the nearest existing directory, is writable. */
  readonly writable: boolean;
  /** Why not, in the system's words. */
  readonly reason?: string;
  /** The free space of its file system; undefined if unknown. */
  readonly freeBytes?: number;
  /** Whether users other than the owner can read it. */
  readonly readableByOthers: boolean;
}

/** Examines an existing or future file's place, and creates nothing. */
export function probePlace(path: string): Place {
  const exists = existsSync(path);
  const nearest = exists ? path : nearestDirectory(dirname(path));
  const refused = writeRefused(nearest);
  const freeBytes = freeBytesOf(nearest);
  return {
    exists,
    writable: refused === undefined,
    ...(refused === undefined ? {} : { reason: refused }),
    ...(freeBytes === undefined ? {} : { freeBytes }),
    readableByOthers: exists && process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0,
  };
}

function nearestDirectory(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestDirectory(dirname(path));
}

function writeRefused(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    return errnoOf(error) ?? String(error);
  }
}

function freeBytesOf(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** The target of a path with links followed as far as it exists; the missing part is appended as written. */
export function realPlace(path: string): string {
  const missing: string[] = [];
  for (let at = resolve(path); ; at = dirname(at)) {
    try {
      return join(realpathSync.native(at), ...missing);
    } catch {
      if (dirname(at) === at) return resolve(path);
      missing.unshift(basename(at));
    }
  }
}

/** Identifies the entries of a directory without reading it. */
export interface DirectoryPrint {
  readonly dev: number;
  readonly ino: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/**
 * The current state of the directory: `before` itself if it is unchanged. Undefined if there is none. Never
 * `before` if it changed so recently that the next change may have the same time.
 */
export function directoryPrint(path: string, before?: DirectoryPrint): DirectoryPrint | undefined {
  try {
    const now = statSync(path, MAY_BE_MISSING);
    if (now === undefined) return undefined;
    const { dev, ino, mtimeMs, ctimeMs } = now;
    const mode = now.mode & 0o7777;
    const isSame =
      before?.ctimeMs === ctimeMs && before.mtimeMs === mtimeMs && before.ino === ino && before.dev === dev;
    if (isSame) return before;
    // Equals no time.
    const isLate = Date.now() - ctimeMs < LATELY_MS;
    return { dev, ino, mode, mtimeMs, ctimeMs: isLate ? Number.NaN : ctimeMs };
  } catch {
    return undefined;
  }
}

const MAY_BE_MISSING = { throwIfNoEntry: false } as const;

const LATELY_MS = 50;

interface NamedEntry {
  readonly name: string;
  /** `other`: links, sockets, pipes and devices. */
  readonly type: 'file' | 'dir' | 'other';
}

/** The entries of a directory, read on demand. Empty if the directory cannot be read. */
export function* namedEntries(path: string): Generator<NamedEntry, void> {
  let opened: Dir;
  try {
    opened = opendirSync(path, { bufferSize: ENTRIES_A_READ });
  } catch {
    return;
  }
  try {
    for (let entry = nextEntry(opened); entry !== null; entry = nextEntry(opened)) {
      const type = entry.isDirectory() ? 'dir' : entry.isFile() ? 'file' : 'other';
      yield { name: entry.name, type };
    }
  } finally {
    opened.closeSync();
  }
}

const ENTRIES_A_READ = 512;

function nextEntry(opened: Dir): Dirent | null {
  try {
    return opened.readSync();
  } catch {
    return null;
  }
}
