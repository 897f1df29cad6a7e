import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from './fs-errno.js';

export interface Place {
  readonly exists: boolean;
  /** Whether the file, or else the nearest directory that exists, can be written. */
  readonly writable: boolean;
  /** Why not, in the system's words. */
  readonly reason?: string;
  /** What is left on its file system; undefined where the system does not say. */
  readonly freeBytes?: number;
  /** Whether others than the owner may read it. */
  readonly readableByOthers: boolean;
}

/** Looks at where a file is or would be, and makes nothing. */
export function probePlace(path: string): Place {
  const exists = existsSync(path);
  const nearest = exists ? path : nearestDirectory(dirname(path));
  const refused = writeRefused(nearest);
  const freeBytes = freeBytesOf(nearest);
  return {
    exists,
    writable: refused === undefined,
    ...(refused === undefined ? {} : { reason: refused }),
    ...(freeBytes === undefined ? {} : { freeBytes }),
    readableByOthers: exists && process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0,
  };
}

function nearestDirectory(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestDirectory(dirname(path));
}

function writeRefused(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    return errnoOf(error) ?? String(error);
  }
}

function freeBytesOf(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}
