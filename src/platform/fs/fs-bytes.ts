import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  fsyncSync,
  openSync,
  readSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { errnoOf } from './fs-entry.js';

const CHUNK = 1 << 20;
/** The limit of one read call, and more than any caller needs. */
const MAX_READ_BYTES = 2 ** 31 - 1;

interface ByteRange {
  readonly offset: number;
  /** The maximum; undefined: to the end. */
  readonly length: number | undefined;
  /** The file's size when it was examined. */
  readonly size: number;
}

/** Reads a range, up to the end of the file; closes nothing. */
export function readBytes(descriptor: number, { offset, length, size }: ByteRange): Uint8Array {
  const wanted = Math.max(0, Math.min(length ?? Number.POSITIVE_INFINITY, size - offset));
  if (wanted > MAX_READ_BYTES) throw Object.assign(new Error('file too large'), { code: 'EFBIG' });
  const bytes = new Uint8Array(wanted);
  let filled = 0;
  while (filled < wanted) {
    const count = readSync(descriptor, bytes, filled, wanted - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled === wanted ? bytes : bytes.subarray(0, filled);
}

/** Attributes that a new file takes from the replaced one. */
export interface NewFileOptions {
  readonly like?: Stats;
  /** How many of its bytes are copied before the new bytes. */
  readonly prefix?: number;
  /** Permission bits instead of those of `like`; set-user-ID and set-group-ID are left out. */
  readonly mode?: number;
  /** For a restored file: every bit is set. */
  readonly exact?: { readonly mode: number; readonly owner?: Pick<Stats, 'uid' | 'gid'> };
}

/** Writes a new file and syncs it before returning. */
export function writeNewFile(path: string, bytes: Uint8Array, options: NewFileOptions): void {
  const descriptor = fillNewFile(path, bytes, options);
  try {
    fsyncSync(descriptor);
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** The same with an asynchronous sync, so several run at once. The bytes are written when this returns. */
export async function stageNewFile(path: string, bytes: Uint8Array, options: NewFileOptions): Promise<void> {
  const descriptor = fillNewFile(path, bytes, options);
  try {
    await syncDescriptor(descriptor);
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function fillNewFile(path: string, bytes: Uint8Array, options: NewFileOptions): number {
  // More people must not be able to read the content, even for a moment.
  const descriptor = openSync(
    path,
    'wx',
    options.like === undefined && options.mode === undefined && options.exact === undefined ? 0o666 : 0o600,
  );
  try {
    if (options.prefix !== undefined) copyBytes(options.prefix, descriptor);
    writeBytes(descriptor, bytes);
    if (options.like !== undefined) takeOver(descriptor, options.like);
    if (options.mode !== undefined) fchmodSync(descriptor, options.mode & 0o1777);
    if (options.exact !== undefined) makeExact(descriptor, options.exact);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    unlinkSync(path);
    throw error;
  }
}

/** Makes a rename in this directory durable. Does nothing if directories cannot be synced. */
export function syncDirectory(path: string): void {
  try {
    const descriptor = openSync(path, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throwUnlessUnsyncable(error);
  }
}

/** The same with an asynchronous sync. */
export async function syncDirectoryLater(path: string): Promise<void> {
  try {
    const descriptor = openSync(path, 'r');
    try {
      await syncDescriptor(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throwUnlessUnsyncable(error);
  }
}

function syncDescriptor(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(descriptor, (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}

function throwUnlessUnsyncable(error: unknown): void {
  const errno = errnoOf(error);
  if (errno !== 'EINVAL' && errno !== 'EISDIR' && errno !== 'EPERM' && errno !== 'EACCES') throw error;
}

export function closeDescriptor(descriptor: number): void {
  closeSync(descriptor);
}

function copyBytes(from: number, to: number): void {
  const chunk = new Uint8Array(CHUNK);
  for (let count = readSync(from, chunk); count > 0; count = readSync(from, chunk)) {
    writeBytes(to, chunk.subarray(0, count));
  }
}

function writeBytes(descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(descriptor, bytes, written, bytes.length - written);
  }
}

// The owner first, because changing it clears mode bits.
function takeOver(descriptor: number, like: Stats): void {
  giveTo(descriptor, like);
  // New content does not keep setuid, as with a write in place.
  fchmodSync(descriptor, like.mode & 0o1777);
}

// Set-user-ID grants the owner's rights, so it is set only with the original owner.
function makeExact(descriptor: number, { mode, owner }: NonNullable<NewFileOptions['exact']>): void {
  const isOwner = owner !== undefined && giveTo(descriptor, owner);
  fchmodSync(descriptor, mode & (isOwner ? 0o7777 : 0o1777));
}

/** Changing the owner needs rights that we usually lack. @returns whether the file has this owner. */
export function giveTo(descriptor: number, { uid, gid }: Pick<Stats, 'uid' | 'gid'>): boolean {
  const own = fstatSync(descriptor);
  if (own.uid === uid && own.gid === gid) return true;
  try {
    fchownSync(descriptor, uid, gid);
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EPERM' && errnoOf(error) !== 'EINVAL') throw error;
    return false;
  }
}
