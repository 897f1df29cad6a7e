import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { decodeText } from './decode-text.js';
import { tooLarge, toReadFailure } from './read-failure.js';

const CHUNK_BYTES = 64 * 1024;

/**
 * A whole file as text; also a pipe (`<(…)`), which has no size. Never reads more than one chunk over `maxBytes`.
 * @param keepMark whether a byte order mark is a part of it
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
