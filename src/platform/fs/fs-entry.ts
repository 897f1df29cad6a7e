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

/** What lies at `path`, a link itself where it is one; undefined where nothing does. */
export function entryStat(path: string | Buffer): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** What a path leads to, all links followed; undefined where that is nothing. Says what it is, and opens nothing. */
export function targetOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Tells one state of a regular file from the next, without reading it; undefined for everything else. */
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

/** The text of a link; undefined for everything else, also for what is gone. */
export function linkText(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    const errno = errnoOf(error);
    // Windows answers UNKNOWN for what is no link.
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

/** The real path of what exists; undefined where it, or a part of its path, does not. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** False where a directory, or anything else, is there already. */
export function makeDirectory(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Throws `EACCES` where the file's mode forbids writing: replacing it would get around that. */
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

/** Follows a link at `path`: for what is held by a descriptor. */
export function setMode(path: string, mode: number): void {
  chmodSync(path, mode & 0o7777);
}

/** Whether this process is the owner of what it would make. */
export function isOwnedByUs({ uid, gid }: Pick<Stats, 'uid' | 'gid'>): boolean {
  return uid === process.geteuid?.() && gid === process.getegid?.();
}

export function moveEntry(from: string, to: string): void {
  renameSync(from, to);
}

export function removeEntry(path: string): void {
  unlinkSync(path);
}

/** Throws `ENOTEMPTY` where anything is in it. */
export function removeDirectory(path: string): void {
  rmdirSync(path);
}

/**
 * Makes a small entry with a line that says whose it is; false where the name is taken. It is a link with that text: it
 * is never there without its text, whenever its maker dies.
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

/** Where there are no links, as on Windows without the right to make them. */
function createMarkerFile(path: string, line: string): boolean {
  let descriptor: number;
  try {
    // Others read whose it is, too.
    descriptor = openSync(path, 'wx', 0o644);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(descriptor, `${line}\n`);
  } catch {
    // On a full disk it stands for what it stands for all the same.
  } finally {
    closeSync(descriptor);
  }
  return true;
}

const MARKER_BYTES = 256;

/** What a marker says; undefined where there is none, or something else in its place. */
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

// Windows has neither of the two.
const MARKER_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Gives an entry a second name; false where the file system or its rules have none. */
export function linkEntry(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (!hasNoLinks(errnoOf(error))) throw error;
    return false;
  }
}

/** Gives `from` the name `to`, and fails with `EEXIST` where that is taken: the only check that cannot be raced. */
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

/** The system's name for why a call failed (`ENOENT`), where `error` is such a failure. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** `no space left on device` for `ENOSPC`: the message of Node itself would show descriptor paths. */
export function describeErrno(errno: string): string {
  for (const [name, description] of getSystemErrorMap().values()) if (name === errno) return description;
  return 'the file system refused';
}
