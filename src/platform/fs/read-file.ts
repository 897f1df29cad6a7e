/** Why a text could not be read, and what to do about it, as two sentences that a message can end with. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export class ReadFailure extends Error {
  readonly reason: string;
  readonly remedy: string;

  constructor(reason: string, remedy: string, cause?: unknown) {
    super(`${reason} ${remedy}`, cause === undefined ? undefined : { cause });
    this.name = 'ReadFailure';
    this.reason = reason;
    this.remedy = remedy;
  }
}

const SYSTEM_REASONS: Readonly<Record<string, readonly [reason: string, remedy: string]>> = {
  ENOENT: ['it does not exist.', 'Check the name, and the directory you are in.'],
  ENOTDIR: ['a part of its path is a file, not a directory.', 'Check the path.'],
  EISDIR: ['it is a directory.', 'Name a file.'],
  EACCES: ['permission is denied.', 'Make it readable for you.'],
  EPERM: ['permission is denied.', 'Make it readable for you.'],
  ELOOP: ['its symbolic links lead in a circle.', 'Name the file itself.'],
  ENAMETOOLONG: ['its name is too long.', 'Check that it is a file name.'],
  EAGAIN: ['nothing can be read from it now.', 'Use - for standard input.'],
};

/** The system's error in words. */
export function toReadFailure(error: unknown): ReadFailure {
  if (error instanceof ReadFailure) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const known = code === undefined ? undefined : SYSTEM_REASONS[code];
  if (known !== undefined) return new ReadFailure(known[0], known[1], error);
  return new ReadFailure(`${message ?? String(error)}.`, 'Check the file and the disk.', error);
}

export function tooLarge(maxBytes: number): ReadFailure {
  return new ReadFailure(`it is larger than ${maxBytes} bytes.`, 'Send less.');
}

/**
 * Decodes bytes as text, strictly: invalid bytes are not replaced. A byte order mark is removed unless
 * `keepMark` is set.
 * @throws ReadFailure if it is not text: binary, or in another encoding.
 */
export function decodeText(bytes: Uint8Array, keepMark = false): string {
  if (isUtf16(bytes)) throw new ReadFailure('it is UTF-16.', 'Save it as UTF-8.');
  if (bytes.includes(0)) throw new ReadFailure('it is binary.', 'Send text in UTF-8.');
  return decodeUtf8(bytes, keepMark);
}

// PowerShell writes this encoding when output is redirected to a file.
function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

function decodeUtf8(bytes: Uint8Array, ignoreBOM: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM }).decode(bytes);
  } catch (error) {
    throw new ReadFailure('it is not UTF-8.', 'Save it as UTF-8.', error);
  }
}

const CHUNK_BYTES = 64 * 1024;

/**
 * Reads a whole file as text, or a pipe (`<(…)`), which has no size. Never reads more than one chunk beyond
 * `maxBytes`.
 * @param keepMark whether a byte order mark is part of the text
 * @throws ReadFailure with the reason in words.
 */
export function readTextFile(path: string, maxBytes: number, keepMark = false): string {
  return decodeText(readWhole(path, maxBytes), keepMark);
}

function readWhole(path: string, maxBytes: number): Uint8Array {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const stat = fstatSync(descriptor);
    if (stat.isFile() && stat.size > maxBytes) throw tooLarge(maxBytes);
    return readToEnd(descriptor, maxBytes);
  } catch (error) {
    throw toReadFailure(error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function readToEnd(descriptor: number, maxBytes: number): Uint8Array {
  const chunks: Uint8Array[] = [];
  for (let total = 0; ; ) {
    const chunk = new Uint8Array(CHUNK_BYTES);
    const length = readSync(descriptor, chunk);
    if (length === 0) return Buffer.concat(chunks);
    total += length;
    if (total > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk.subarray(0, length));
  }
}
