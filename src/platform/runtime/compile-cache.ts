import { lstatSync, rmSync } from 'node:fs';
import nodeModule from 'node:module';
import { makeDirectories } from '../fs/make-directories.js';
import { foreignReach } from '../fs/out-of-reach.js';

/**
 * Has Node keep what it compiles of this program, and read it at the next start: Node 22.1 and newer can, and compare a
 * checksum before they use it. Where the directory belongs to another user, or others could write it or put another one
 * in its place, nothing is kept: its files decide what the program does.
 */
export function useCompileCache(directory: string): void {
  // The declarations of Node 20 do not have it.
  const enable: unknown = Reflect.get(nodeModule, 'enableCompileCache');
  if (typeof enable !== 'function') return;
  try {
    makeDirectories(directory);
    const { mode, uid } = lstatSync(directory);
    const isOurs = uid === process.geteuid?.() && (mode & 0o022) === 0;
    if (isOurs && foreignReach(directory) === undefined) enable.call(nodeModule, directory);
  } catch {
    // A start without it takes longer, and that is all.
  }
}

/** Removes a directory that an earlier version has left, if it is there. */
export function removeLeftover(directory: string): void {
  try {
    if (lstatSync(directory, { throwIfNoEntry: false }) !== undefined) rmSync(directory, { recursive: true });
  } catch {
    // It harms no one: nothing reads it.
  }
}
