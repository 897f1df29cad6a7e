import { hash } from 'node:crypto';
import { createMarker, entryStat, moveEntry, moveToFreeName, removeEntry } from '../platform/fs-entry.js';
import type { Pin } from '../platform/fs-pin.js';
import { workerOfThisProcess } from '../platform/worker-of-this-process.js';

/** Named like every other temporary file, so that whoever skips those skips it too. */
export const LOCK_NAME = '.toolexec-0000000000000000.tmp';

/** Somebody else is replacing files in a directory. Not an answer: the attempt is repeated. */
export class DirectoryBusy extends Error {
  /** `lock` is the same as long as the same holder has it. */
  constructor(readonly lock: string) {
    super('another process is replacing files in this directory');
  }
}

/**
 * Between comparing a file and replacing it, nobody else of us may replace it: a marker in its directory says so to
 * other processes. It is held for the few system calls of that moment, never while bytes are written.
 */
export class DirectoryLocks {
  readonly #held = new Map<string, string>();
  readonly #abandoned: string | undefined;

  /** `abandoned`: a lock that has not changed for so long that its holder must be dead. */
  constructor(abandoned: string | undefined) {
    this.#abandoned = abandoned;
  }

  /** @throws DirectoryBusy */
  take(directory: Pin): void {
    const name = directory.name();
    if (this.#held.has(name)) return;
    const path = `${directory.at}/${LOCK_NAME}`;
    const signature = signatureOf(workerOfThisProcess().id);
    if (!createMarker(path, signature)) {
      const holder = identityOf(path);
      if (holder !== undefined && holder === this.#abandoned) removeAbandoned(directory, path, holder);
      if (!createMarker(path, signature)) throw new DirectoryBusy(identityOf(path) ?? holder ?? '');
    }
    this.#held.set(name, path);
  }

  release(): void {
    for (const path of this.#held.values()) removeIfThere(path);
    this.#held.clear();
  }
}

function identityOf(path: string): string | undefined {
  const entry = entryStat(path);
  return entry === undefined ? undefined : `${entry.dev}:${entry.ino}:${entry.mtimeMs}`;
}

// Taken away under a name of our own first: of two that find it abandoned, one must not remove the other's new lock.
function removeAbandoned(directory: Pin, path: string, holder: string): void {
  const aside = `${directory.at}/${temporaryName()}`;
  try {
    moveEntry(path, aside);
  } catch {
    return;
  }
  if (identityOf(aside) !== holder) {
    try {
      moveToFreeName(aside, path);
      return;
    } catch {
      // A third has the lock by now; the one that was taken away wrongly is told apart from it no more.
    }
  }
  removeIfThere(aside);
}

/** A name that no other file has. It says which process has made it, for whoever cleans up after that one. */
export function temporaryName(): string {
  made = (made + 1) % 2 ** 32;
  return `.toolexec-${signatureOf(workerOfThisProcess().id)}${made.toString(16).padStart(8, '0')}.tmp`;
}

let made = 0;

/** Eight hexadecimal digits that stand for a process. */
export function signatureOf(workerId: string): string {
  return hash('sha256', workerId).slice(0, 8);
}

export function removeIfThere(path: string): void {
  try {
    removeEntry(path);
  } catch {
    // Whoever removed it was faster; that it is gone is all that was wanted.
  }
}
