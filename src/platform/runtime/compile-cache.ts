import { lstatSync, rmSync } from 'node:fs';
import nodeModule from 'node:module';
import { makeDirectories } from '../fs/make-directories.js';
import { foreignReach } from '../fs/out-of-reach.js';

/**
 * Makes Node cache the compiled code of this program for the next start. Node 22.1 and newer support that,
 * and compare a checksum before they use the cache. If the directory belongs to another user, or others could
 * write or replace it, nothing is cached, because its files decide which code runs.
 */
export function useCompileCache(directory: string): void {
  // The type declarations of Node 20 do not have it.
  const enable: unknown = Reflect.get(nodeModule, 'enableCompileCache');
  if (typeof enable !== 'function') return;
  try {
    makeDirectories(directory);
    const { mode, uid } = lstatSync(directory);
    const isOurs = uid === process.geteuid?.() && (mode & 0o022) === 0;
    if (isOurs && foreignReach(directory) === undefined) enable.call(nodeModule, directory);
  } catch {
    // Without the cache the start only takes longer.
  }
}

/** Removes a directory that an earlier version has left, if it is there. */
export function removeLeftover(directory: string): void {
  try {
    if (lstatSync(directory, { throwIfNoEntry: false }) !== undefined) rmSync(directory, { recursive: true });
  } catch {
    // A remaining directory does no harm: nothing reads it.
  }
}
