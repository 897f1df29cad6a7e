import { createHash } from 'node:crypto';
import { closeSync, constants, openSync, readlinkSync, readSync } from 'node:fs';
import type { BinaryEntry, BinaryPath } from './binary-fs.js';

/** SHA-256 in hex of a file's content, or of a link's target; undefined for anything else. */
export function contentHash(path: BinaryPath, { kind }: Pick<BinaryEntry, 'kind'>): string | undefined {
  if (kind === 'file') return hashFile(path);
  if (kind !== 'link') return undefined;
  return createHash('sha256')
    .update(readlinkSync(raw(path), 'buffer'))
    .digest('hex');
}

function hashFile(path: BinaryPath): string {
  const hash = createHash('sha256');
  // Does not wait for a pipe that has replaced the file.
  const fd = openSync(raw(path), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    for (;;) {
      const count = readSync(fd, chunk, 0, chunk.length, null);
      if (count === 0) return hash.digest('hex');
      hash.update(chunk.subarray(0, count));
    }
  } finally {
    closeSync(fd);
  }
}

const chunk = Buffer.allocUnsafeSlow(256 * 1024);

function raw(path: BinaryPath): Buffer {
  return Buffer.from(path, 'latin1');
}
