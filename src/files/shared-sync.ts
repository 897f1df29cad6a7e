import { syncDirectoryLater } from '../platform/fs/fs-bytes.js';
import type { Handle } from '../platform/fs/open-handle.js';

/**
 * Makes earlier changes of names in a directory durable. Changes share syncs: one runs at a time for a
 * directory, and the next one covers every change made before it starts. The caller keeps the directory open
 * until the promise resolves or rejects. A failed sync fails for all that share it.
 */
export function syncShared(directory: Handle): Promise<void> {
  const { dev, ino } = directory.stat();
  const key = `${dev}:${ino}`;
  const last = newest.get(key);
  if (last?.hasBegun === false) return last.done;
  const sync = new SharedSync(directory, last?.done);
  newest.set(key, sync);
  const forget = (): void => {
    if (newest.get(key) === sync) newest.delete(key);
  };
  sync.done.then(forget, forget);
  return sync.done;
}

/** By the directory's identity: the inode of an open directory is not reused. */
const newest = new Map<string, SharedSync>();

class SharedSync {
  hasBegun = false;
  readonly done: Promise<void>;

  constructor(directory: Handle, before: Promise<void> | undefined) {
    this.done = this.#run(directory, before);
  }

  async #run(directory: Handle, before: Promise<void> | undefined): Promise<void> {
    // The callers of that sync receive its error.
    await before?.catch(NOTHING);
    this.hasBegun = true;
    await syncDirectoryLater(directory.at);
  }
}

const NOTHING = (): void => {};
