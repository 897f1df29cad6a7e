import { createHash, hash } from 'node:crypto';
import { closeDescriptor, readBytes, writeNewFile } from '../platform/fs/fs-bytes.js';
import type { EntryStat } from '../platform/fs/fs-entry.js';
import type { Containment } from './containment.js';
import { fileSystemError } from './file-failure.js';

const CHUNK_BYTES = 1 << 20;
const NOTHING = new Uint8Array(0);

/** SHA-256 (lower-case hex) of the regular file at `at`, an entry of an open directory. */
export function hashEntry(containment: Containment, at: string): string {
  return withContent(containment, at, (descriptor, { size }) => hashDescriptor(descriptor, size));
}

function hashDescriptor(descriptor: number, size: number): string {
  const hash = createHash('sha256');
  for (let offset = 0; ; ) {
    // One byte more than its size: a file that grew meanwhile has another hash.
    const length = Math.min(CHUNK_BYTES, size + 1 - offset);
    const bytes = readBytes(descriptor, { offset, length, size: size + 1 });
    hash.update(bytes);
    offset += bytes.length;
    if (bytes.length < length || offset > size) return hash.digest('hex');
  }
}

/** A regular file at one moment. */
export interface EntryContent {
  readonly sha256: string;
  readonly stat: EntryStat;
  /** Undefined if it is too large. */
  readonly bytes: Uint8Array | undefined;
}

/** Reads the regular file at `at`. A concurrent writer also changes its size or times. */
export function readEntry(containment: Containment, at: string, maxBytes: number): EntryContent {
  return withContent(containment, at, (descriptor, stat) => {
    if (stat.size > maxBytes)
      return { sha256: hashDescriptor(descriptor, stat.size), stat, bytes: undefined };
    const bytes = readBytes(descriptor, { offset: 0, length: stat.size, size: stat.size });
    return { sha256: hash('sha256', bytes), stat, bytes };
  });
}

/** Copies a regular file with its mode and owner, and appends bytes. */
export function copyEntry(
  containment: Containment,
  at: string,
  to: string,
  more: Uint8Array = NOTHING,
): void {
  withContent(containment, at, (descriptor, like) => writeNewFile(to, more, { like, prefix: descriptor }));
}

function withContent<Value>(
  containment: Containment,
  at: string,
  use: (descriptor: number, stat: EntryStat) => Value,
): Value {
  const handle = containment.opener.open(at);
  try {
    const stat = handle.stat();
    // A link or pipe replaced the file after it was examined.
    if (!stat.isFile()) throw fileSystemError('EAGAIN');
    const descriptor = handle.openForReading();
    try {
      return use(descriptor, stat);
    } finally {
      closeDescriptor(descriptor);
    }
  } finally {
    handle.close();
  }
}
