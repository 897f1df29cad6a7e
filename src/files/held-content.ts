import { createHash, hash } from 'node:crypto';
import { closeDescriptor, readBytes, writeNewFile } from '../platform/fs/fs-bytes.js';
import type { EntryStat } from '../platform/fs/fs-entry.js';
import type { Enclosure } from './enclosure.js';
import { fileSystemError } from './file-failure.js';

const CHUNK_BYTES = 1 << 20;
const NOTHING = new Uint8Array(0);

/** SHA-256 of the regular file at `at`, an entry of a held directory; lower-case hex. */
export function hashHeld(enclosure: Enclosure, at: string): string {
  return withContent(enclosure, at, (descriptor, { size }) => hashDescriptor(descriptor, size));
}

function hashDescriptor(descriptor: number, size: number): string {
  const hash = createHash('sha256');
  for (let offset = 0; ; ) {
    // One byte more than it had: a file that grew meanwhile is another one.
    const length = Math.min(CHUNK_BYTES, size + 1 - offset);
    const bytes = readBytes(descriptor, { offset, length, size: size + 1 });
    hash.update(bytes);
    offset += bytes.length;
    if (bytes.length < length || offset > size) return hash.digest('hex');
  }
}

/** A regular file at one moment. */
export interface HeldContent {
  readonly sha256: string;
  readonly stat: EntryStat;
  /** Undefined where there are too many. */
  readonly bytes: Uint8Array | undefined;
}

/** What is in the regular file at `at`. Who changes it meanwhile changes what the system says of it as well. */
export function readHeld(enclosure: Enclosure, at: string, maxBytes: number): HeldContent {
  return withContent(enclosure, at, (descriptor, stat) => {
    if (stat.size > maxBytes)
      return { sha256: hashDescriptor(descriptor, stat.size), stat, bytes: undefined };
    const bytes = readBytes(descriptor, { offset: 0, length: stat.size, size: stat.size });
    return { sha256: hash('sha256', bytes), stat, bytes };
  });
}

/** Copies a regular file with its mode and owner, and further bytes behind its own. */
export function copyHeld(enclosure: Enclosure, at: string, to: string, more: Uint8Array = NOTHING): void {
  withContent(enclosure, at, (descriptor, like) => writeNewFile(to, more, { like, prefix: descriptor }));
}

function withContent<Value>(
  enclosure: Enclosure,
  at: string,
  use: (descriptor: number, stat: EntryStat) => Value,
): Value {
  const pin = enclosure.pinner.pin(at);
  try {
    const stat = pin.stat();
    // A link or a pipe was put in the file's place after it had been looked at.
    if (!stat.isFile()) throw fileSystemError('EAGAIN');
    const descriptor = pin.openForReading();
    try {
      return use(descriptor, stat);
    } finally {
      closeDescriptor(descriptor);
    }
  } finally {
    pin.close();
  }
}
