import { syncDirectoryLater } from '../platform/fs/fs-bytes.js';
import type { Handle } from '../platform/fs/open-handle.js';

/**
 * Makes the changes of names in a directory durable that were made before this is called. Changes share syncs: one at a
 * time runs for a directory, and the next one covers every change that was made before it begins.
 * The caller keeps the directory open until the promise is resolved or rejected. When a sync fails, it fails for all that share it.
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

/** By the directory's identity: an open directory's inode is given to no other one. */
const newest = new Map<string, SharedSync>();

class SharedSync {
  hasBegun = false;
  readonly done: Promise<void>;

  constructor(directory: Handle, before: Promise<void> | undefined) {
    this.done = this.#run(directory, before);
  }

  async #run(directory: Handle, before: Promise<void> | undefined): Promise<void> {
    // Its own callers learn whether that one succeeded.
    await before?.catch(NOTHING);
    this.hasBegun = true;
    await syncDirectoryLater(directory.at);
  }
}

const NOTHING = (): void => {};
