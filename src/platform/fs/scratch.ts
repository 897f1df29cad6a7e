import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of this program in the system's temporary directory. */
export interface ScratchDirectory {
  readonly path: string;
  /** Makes a directory in it and returns its path. */
  directory(name: string): string;
  /** Copies a file into it and returns the path of the copy. */
  copy(from: string, name: string): string;
  /** The text of a file in it; empty if there is no such file. */
  readText(name: string): string;
  remove(): void;
}

export function makeScratchDirectory(prefix: string): ScratchDirectory {
  const path = mkdtempSync(join(tmpdir(), prefix));
  return {
    path,
    directory(name) {
      const made = join(path, name);
      mkdirSync(made);
      return made;
    },
    copy(from, name) {
      const copied = join(path, name);
      copyFileSync(from, copied);
      return copied;
    },
    readText(name) {
      try {
        return readFileSync(join(path, name), 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
        throw error;
      }
    },
    // A process started by a killed process may still be writing.
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  };
}

/** Text for a program that accepts it only as a file. */
export interface ScratchFile {
  /** The descriptor that the program inherits as its descriptor 3; undefined if it opens `path` by name. */
  readonly descriptor: number | undefined;
  /** The path that the program opens. */
  readonly path: string;
  close(): void;
}

/**
 * Makes a file in the system's temporary directory that only this user can read, without a name if the system
 * allows it.
 */
export function openScratchFile(text: string): ScratchFile {
  const path = join(tmpdir(), `toolexec-${randomBytes(12).toString('hex')}`);
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  if (process.platform === 'win32') {
    return { descriptor: undefined, path, close: () => rmSync(path, { force: true }) };
  }
  try {
    const descriptor = openSync(path, 'r');
    return { descriptor, path: '/dev/fd/3', close: () => closeSync(descriptor) };
  } finally {
    rmSync(path, { force: true });
  }
}

/**
 * Opens a new file without a name in any directory, for reading and writing, at its start. Undefined if the
 * system has no such files, or no room for `content`.
 */
export function openUnnamedFile(mode: number, content: string | Uint8Array = ''): number | undefined {
  for (const folder of ['/dev/shm', tmpdir()]) {
    const fd = tryFolder(folder, mode, content);
    if (fd !== undefined) return fd;
  }
  return undefined;
}

function tryFolder(folder: string, mode: number, content: string | Uint8Array): number | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(folder, O_TMPFILE | constants.O_RDWR, mode);
    const bytes = Buffer.from(content);
    if (bytes.length > 0 && writeSync(fd, bytes, 0, bytes.length, 0) < bytes.length)
      throw new RangeError('The disk is full.');
    return fd;
  } catch {
    // There is no such directory, its file system has no such files, or it is full.
    if (fd !== undefined) closeSync(fd);
    return undefined;
  }
}

/** Linux's O_TMPFILE, which Node does not define. */
const O_TMPFILE = 0o20_000_000 | constants.O_DIRECTORY;
