import { createHash, hash } from 'node:crypto';
import { closeSync, constants, openSync, readlinkSync, readSync } from 'node:fs';
import { type BinaryEntry, type BinaryPath, raw } from './binary-fs.js';

/** SHA-256 in hex of a file's content, or of a link's target; undefined for anything else. */
export function contentHash(
  path: BinaryPath,
  { kind, size }: Pick<BinaryEntry, 'kind'> & { readonly size?: number },
): string | undefined {
  if (kind === 'file') return size === 0 ? EMPTY : hashFile(path);
  if (kind !== 'link') return undefined;
  return createHash('sha256')
    .update(readlinkSync(raw(path), 'buffer'))
    .digest('hex');
}

const EMPTY = hash('sha256', '', 'hex');

function hashFile(path: BinaryPath): string {
  // Does not wait for a pipe that has replaced the file.
  const fd = openSync(raw(path), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const first = fill(fd);
    // Most files fit into one chunk.
    if (first < chunk.length) return hash('sha256', chunk.subarray(0, first), 'hex');
    const whole = createHash('sha256').update(chunk);
    for (let count = fill(fd); count > 0; count = fill(fd)) whole.update(chunk.subarray(0, count));
    return whole.digest('hex');
  } finally {
    closeSync(fd);
  }
}

/** Reads into the chunk until it is full or the file ends. */
function fill(fd: number): number {
  let length = 0;
  for (let count = -1; count !== 0 && length < chunk.length; length += count)
    count = readSync(fd, chunk, length, chunk.length - length, null);
  return length;
}

const chunk = Buffer.allocUnsafeSlow(256 * 1024);
