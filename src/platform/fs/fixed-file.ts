import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { errnoOf } from './fs-entry.js';

/** A small open file of fixed size whose parts are overwritten in place. */
export interface FixedFile {
  read(): string;
  /** Writes at `offset` without a sync. False if the system refuses. */
  write(offset: number, bytes: Uint8Array): boolean;
  close(): void;
}

/**
 * Opens such a file, or creates it (mode 0600) with `bytes` bytes, so that a full disk cannot refuse later
 * writes. Links are not followed.
 * @throws the operating system's error; an error if something else is there.
 */
export function openFixedFile(path: string, bytes: number): FixedFile {
  const descriptor = openSync(path, FLAGS, 0o600);
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw new Error(`"${path}" is not a regular file`);
    if (found.size < bytes) writeSync(descriptor, ' '.repeat(bytes - found.size), found.size, 'latin1');
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return {
    read: () => readText(descriptor, bytes),
    write(offset, part) {
      try {
        return writeSync(descriptor, part, 0, part.length, offset) === part.length;
      } catch {
        return false;
      }
    },
    close: () => closeSync(descriptor),
  };
}

/** Reads the text without writing; empty if there is no such file. @throws as `openFixedFile` does */
export function readFixedFile(path: string, bytes: number): string {
  let descriptor: number;
  try {
    descriptor = openSync(path, READ_FLAGS);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return '';
    throw error;
  }
  try {
    return fstatSync(descriptor).isFile() ? readText(descriptor, bytes) : '';
  } finally {
    closeSync(descriptor);
  }
}

// Windows has neither flag.
const CAREFULLY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const FLAGS = constants.O_RDWR | constants.O_CREAT | CAREFULLY;
const READ_FLAGS = constants.O_RDONLY | CAREFULLY;

function readText(descriptor: number, bytes: number): string {
  const buffer = Buffer.alloc(bytes);
  return buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, bytes, 0));
}
