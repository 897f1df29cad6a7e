import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
  writev,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDirectories } from './make-directories.js';

export interface StoredFile {
  readonly name: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** An open output file. */
export interface WritableOutput {
  /** Appends all chunks in order; one call at a time. @throws the system's error. */
  append(chunks: readonly Uint8Array[]): Promise<void>;
  close(): void;
}

/** A private directory for outputs: mode 0700, files 0600. All calls throw the system's error. */
export interface OutputDirectory {
  readonly path: string;
  list(): StoredFile[];
  create(name: string): WritableOutput;
  save(name: string, bytes: Uint8Array): void;
  stat(name: string): StoredFile;
  read(name: string, offset: number, length: number): Uint8Array;
  remove(name: string): void;
  /** Removes it with its content. */
  removeAll(): void;
}

/** Opens a permanent directory, and creates a missing one. */
export function openOutputDirectory(path: string): OutputDirectory {
  makeDirectories(path);
  return outputDirectory(path);
}

/** Creates one for this process, and removes those of dead processes. */
export function makeTemporaryOutputDirectory(): OutputDirectory {
  const parent = tmpdir();
  for (const name of readdirSync(parent)) {
    const pid = OF_PROCESS.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) removeQuietly(join(parent, name));
  }
  return outputDirectory(mkdtempSync(join(parent, `toolexec-outputs-${process.pid}-`)));
}

const OF_PROCESS = /^toolexec-outputs-(\d+)-/;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It belongs to another user.
  }
}

function outputDirectory(path: string): OutputDirectory {
  const at = (name: string): string => join(path, name);
  const stat = (name: string): StoredFile => {
    const { size, mtimeMs } = statSync(at(name));
    return { name, bytes: size, modifiedMs: mtimeMs };
  };
  return {
    path,
    list: () => readdirSync(path).flatMap((name) => attempt(() => stat(name))),
    create(name) {
      const fd = openSync(at(name), 'wx', 0o600);
      return { append: (chunks) => append(fd, chunks), close: () => closeSync(fd) };
    },
    save(name, bytes) {
      const fd = openSync(at(name), 'wx', 0o600);
      try {
        for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
      } finally {
        closeSync(fd);
      }
    },
    stat,
    read(name, offset, length) {
      const fd = openSync(at(name), 'r');
      try {
        const bytes = Buffer.allocUnsafeSlow(length);
        let done = 0;
        for (let count = 1; done < length && count > 0; done += count) {
          count = readSync(fd, bytes, done, length - done, offset + done);
        }
        return bytes.subarray(0, done);
      } finally {
        closeSync(fd);
      }
    },
    remove: (name) => unlinkSync(at(name)),
    removeAll: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** A file may vanish while the directory is read. */
function attempt<T>(look: () => T): T[] {
  try {
    return [look()];
  } catch {
    return [];
  }
}

/** Many chunks at once, because each write occupies another thread and costs more than its bytes. */
async function append(fd: number, chunks: readonly Uint8Array[]): Promise<void> {
  for (let at = 0; at < chunks.length; at += MOST_AT_ONCE) {
    let rest = chunks.slice(at, at + MOST_AT_ONCE);
    while (rest.length > 0) rest = after(await writeSome(fd, rest), rest);
  }
}

/** The limit that every system accepts in one call. */
const MOST_AT_ONCE = 512;

function after(written: number, chunks: readonly Uint8Array[]): Uint8Array[] {
  let left = written;
  return chunks.flatMap((chunk) => {
    const skipped = Math.min(left, chunk.length);
    left -= skipped;
    return skipped === chunk.length ? [] : [chunk.subarray(skipped)];
  });
}

function writeSome(fd: number, chunks: readonly Uint8Array[]): Promise<number> {
  return new Promise((resolve, reject) => {
    writev(fd, chunks, (error, written) => {
      if (error === null) resolve(written);
      else reject(error);
    });
  });
}
