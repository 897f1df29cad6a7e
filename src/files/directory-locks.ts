import { createMarker, entryStat, readMarker, removeEntry } from '../platform/fs/fs-entry.js';
import type { Handle } from '../platform/fs/open-handle.js';
import { fateOf, ownTag } from '../platform/process/process-tag.js';

/** Named like a temporary file, so that code which skips those skips the lock too. */
export const LOCK_NAME = '.toolexec-0000000000000000.tmp';
/** Held by the process that removes a dead process's lock. */
const REMOVER_NAME = '.toolexec-0000000000000001.tmp';

/** Another process is replacing files in the directory. The attempt is repeated. */
export class DirectoryBusy extends Error {
  /** `lock` stays the same while the same process holds it. */
  constructor(readonly lock: string) {
    super('another process is replacing files in this directory');
  }
}

/** The entry differs from the one examined a moment ago. The attempt is repeated a few times. */
export class PlaceChanged extends DirectoryBusy {
  /**
   * @param file its name
   * @param isSwapped a link was put in its place, or the file was moved away and back
   */
  constructor(
    lock: string,
    readonly file: string,
    readonly isSwapped: boolean,
  ) {
    super(lock);
  }
}

/**
 * Between the comparison of a file and its replacement, no other toolexec process may replace it. A marker
 * file in the directory names the holder. It is held for a few system calls, never while bytes are written.
 * The lock of a dead process is removed at once; the lock of a living process never.
 */
export class DirectoryLocks {
  readonly #opened = new Map<string, string>();
  readonly #abandoned: string | undefined;

  /**
   * `abandoned`: a lock that has not changed for so long that its holder must be dead, although its process
   * cannot be checked.
   */
  constructor(abandoned: string | undefined) {
    this.#abandoned = abandoned;
  }

  /** @throws DirectoryBusy */
  take(directory: Handle): void {
    const name = directory.name();
    if (this.#opened.has(name)) return;
    const path = `${directory.at}/${LOCK_NAME}`;
    if (!createMarker(path, ownTag())) {
      const lock = identityOf(path);
      if (lock !== undefined && this.#isLeftBehind(path, lock)) removeLeftBehind(directory, path, lock);
      if (!createMarker(path, ownTag())) throw new DirectoryBusy(identityOf(path) ?? lock ?? '');
    }
    this.#opened.set(name, path);
  }

  release(): void {
    for (const path of this.#opened.values()) removeIfThere(path);
    this.#opened.clear();
  }

  #isLeftBehind(path: string, lock: string): boolean {
    const fate = holderOf(path);
    return fate === 'gone' || (fate === 'unknown' && lock === this.#abandoned);
  }
}

function identityOf(path: string): string | undefined {
  const entry = entryStat(path);
  return entry === undefined ? undefined : `${entry.dev}:${entry.ino}:${entry.mtimeMs}`;
}

function holderOf(path: string): ReturnType<typeof fateOf> {
  return fateOf(readMarker(path)?.trim() ?? '');
}

// One process at a time: of two that find a dead lock, the slower must not remove the faster one's new lock.
function removeLeftBehind(directory: Handle, path: string, lock: string): void {
  const remover = `${directory.at}/${REMOVER_NAME}`;
  if (!createMarker(remover, ownTag())) {
    // The process was killed between two system calls. The next attempt succeeds.
    removeDeadRemover(directory);
    return;
  }
  try {
    if (identityOf(path) === lock) removeIfThere(path);
  } finally {
    removeIfThere(remover);
  }
}

/** Removes the leftover of a process that was killed while it removed a dead process's lock. */
export function removeDeadRemover(directory: Handle): void {
  const remover = `${directory.at}/${REMOVER_NAME}`;
  if (holderOf(remover) === 'gone') removeIfThere(remover);
}

export function removeIfThere(path: string): void {
  try {
    removeEntry(path);
  } catch {
    // Another process removed it first, which has the same effect.
  }
}
