import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  type Stats,
  statSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import type { DirectoryEntry, FileStat } from '../../contract/files.js';

export type EntryStat = Stats;

/** The entry at `path`, without following a link; undefined if there is none. */
export function entryStat(path: string | Buffer): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** The target of a path with all links followed; undefined if there is none. Opens nothing. */
export function targetOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Identifies the state of a regular file without reading it; undefined for anything else. */
export function filePrint(path: string): string | undefined {
  const entry = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (entry?.isFile() !== true) return undefined;
  return [entry.dev, entry.ino, entry.size, entry.mtimeNs, entry.ctimeNs].join(':');
}

export function entryType(entry: Stats | Dirent): FileStat['type'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'dir';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}

/** The target text of a link; undefined for anything else, or if it is gone. */
export function linkText(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    const errno = errnoOf(error);
    // Windows returns UNKNOWN for an entry that is not a link.
    if (errno === 'EINVAL' || errno === 'ENOENT' || errno === 'UNKNOWN') return undefined;
    throw error;
  }
}

export function directoryEntries(path: string): DirectoryEntry[] {
  return readdirSync(path, { withFileTypes: true }).map((entry) => ({
    name: entry.name,
    type: isExamined(entry) ? entryType(entry) : 'unknown',
  }));
}

export function entryNames(path: string): string[] {
  return readdirSync(path);
}

/** The real path of an existing entry; undefined if it, or a part of its path, does not exist. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** False if an entry already exists. */
export function makeDirectory(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Throws `EACCES` if the file's mode forbids writing: replacing the file would bypass that. */
export function assertWritable(path: string): void {
  accessSync(path, constants.W_OK);
}

export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Follows a link at `path`, so use it for descriptors. */
export function setMode(path: string, mode: number): void {
  chmodSync(path, mode & 0o7777);
}

/** Whether this process owns the files that it creates there. */
export function isOwnedByUs({ uid, gid }: Pick<Stats, 'uid' | 'gid'>): boolean {
  return uid === process.geteuid?.() && gid === process.getegid?.();
}

export function moveEntry(from: string, to: string): void {
  renameSync(from, to);
}

export function removeEntry(path: string): void {
  unlinkSync(path);
}

/** Throws `ENOTEMPTY` if the directory is not empty. */
export function removeDirectory(path: string): void {
  rmdirSync(path);
}

/**
 * Creates a small entry with a line about its owner; false if the name is taken. It is a link with that text,
 * so it always has its text, even if its creator dies.
 */
export function createMarker(path: string, line: string): boolean {
  try {
    symlinkSync(line, path);
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST') return false;
    if (errno === 'ENOSPC' || errno === 'EDQUOT' || hasNoLinks(errno)) return createMarkerFile(path, line);
    throw error;
  }
}

/** For systems without links, such as Windows without the necessary right. */
function createMarkerFile(path: string, line: string): boolean {
  let descriptor: number;
  try {
    // Other users may read the owner too.
    descriptor = openSync(path, 'wx', 0o644);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(descriptor, `${line}\n`);
  } catch {
    // On a full disk the marker still counts, without its text.
  } finally {
    closeSync(descriptor);
  }
  return true;
}

const MARKER_BYTES = 256;

/** The text of a marker; undefined if there is none. */
export function readMarker(path: string): string | undefined {
  try {
    const text = linkText(path);
    if (text !== undefined) return text;
    const descriptor = openSync(path, MARKER_FLAGS);
    try {
      const bytes = Buffer.alloc(MARKER_BYTES);
      return bytes.toString('latin1', 0, readSync(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

// Windows has neither flag.
const MARKER_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Creates a hard link; false if the file system does not allow it. */
export function linkEntry(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (!hasNoLinks(errnoOf(error))) throw error;
    return false;
  }
}

/** Renames `from` to `to`, and fails with `EEXIST` if that exists: the only check without a race. */
export function moveToFreeName(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!hasNoLinks(errnoOf(error))) throw error;
    renameSync(from, to);
    return;
  }
  unlinkSync(from);
}

function hasNoLinks(errno: string | undefined): boolean {
  return errno === 'EPERM' || errno === 'ENOTSUP' || errno === 'EOPNOTSUPP' || errno === 'ENOSYS';
}

function isExamined(entry: Dirent): boolean {
  return (
    entry.isFile() ||
    entry.isDirectory() ||
    entry.isSymbolicLink() ||
    entry.isFIFO() ||
    entry.isSocket() ||
    entry.isBlockDevice() ||
    entry.isCharacterDevice()
  );
}

/** The error code of a failed system call (`ENOENT`); undefined for other errors. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** `no space left on device` for `ENOSPC`: Node's own message would show descriptor paths. */
export function describeErrno(errno: string): string {
  for (const [name, description] of getSystemErrorMap().values()) if (name === errno) return description;
  return 'the file system refused';
}
