import { createMarker, entryStat, readMarker, removeEntry } from '../platform/fs/fs-entry.js';
import type { Handle } from '../platform/fs/open-handle.js';
import { fateOf, ownTag } from '../platform/process/process-tag.js';

/** Named like every other temporary file, so that code that skips those skips it too. */
export const LOCK_NAME = '.toolexec-0000000000000000.tmp';
/** Held by the process that takes a dead process's lock away. */
const REMOVER_NAME = '.toolexec-0000000000000001.tmp';

/** Another process is replacing files in a directory. Not an answer: the attempt is repeated. */
export class DirectoryBusy extends Error {
  /** `lock` is the same as long as the same holder has it. */
  constructor(readonly lock: string) {
    super('another process is replacing files in this directory');
  }
}

/** Something else lies in the place of a file that was looked at a moment ago. The attempt is repeated, a few times. */
export class PlaceChanged extends DirectoryBusy {
  /**
   * @param file its name
   * @param isSwapped a link was put in its place, or it was moved away and back
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
 * Between comparing a file and replacing it, no other toolexec may replace it: a marker in its directory says so to
 * other processes, and who has put it there. It is held for the few system calls of that moment, never while bytes
 * are written. That of a process which is gone is taken away at once; that of one which runs, never.
 */
export class DirectoryLocks {
  readonly #opened = new Map<string, string>();
  readonly #abandoned: string | undefined;

  /** `abandoned`: a lock that has not changed for so long that its holder, whose process cannot be looked up, must be dead. */
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

// One at a time: of two that find a lock left behind, the slower must not remove the new one of the faster.
function removeLeftBehind(directory: Handle, path: string, lock: string): void {
  const remover = `${directory.at}/${REMOVER_NAME}`;
  if (!createMarker(remover, ownTag())) {
    // Killed between two system calls; the next attempt finds the way free.
    removeDeadRemover(directory);
    return;
  }
  try {
    if (identityOf(path) === lock) removeIfThere(path);
  } finally {
    removeIfThere(remover);
  }
}

/** What a process leaves that is killed while it takes a dead process's lock away. */
export function removeDeadRemover(directory: Handle): void {
  const remover = `${directory.at}/${REMOVER_NAME}`;
  if (holderOf(remover) === 'gone') removeIfThere(remover);
}

export function removeIfThere(path: string): void {
  try {
    removeEntry(path);
  } catch {
    // Another process removed it first, which is all that was wanted.
  }
}
