import { dirname } from 'node:path';
import { systemClock } from '../platform/clock/clock.js';
import { entryNames, entryStat } from '../platform/fs/fs-entry.js';
import type { Handle } from '../platform/fs/open-handle.js';
import type { Containment } from './containment.js';
import { DirectoryLocks, LOCK_NAME, removeDeadRemover, removeIfThere } from './directory-locks.js';
import { hashEntry } from './entry-content.js';
import { readTemporaryName } from './temporary-name.js';

/** The minimum time between two searches of a directory. */
const SWEEP_EVERY_MS = 60_000;
const REMEMBERED_DIRECTORIES = 1000;
const DAY_MS = 86_400_000;
/**
 * After an interrupted change, a backup is the only copy of the replaced file, so it is kept long enough to
 * restore it by hand.
 */
const BACKUP_KEPT_MS = 7 * DAY_MS;

/**
 * Removes, next to files that were just written, the leftovers of processes that were killed during a write.
 * Only files with our names whose process is gone; if that is not known, after a day.
 */
export function createSweeper(containment: Containment): (written: readonly string[]) => void {
  const sweptAt = new Map<string, number>();
  return (written) => {
    for (const directory of new Set(written.map((path) => dirname(path)))) {
      const now = systemClock.monotonic();
      if (now - (sweptAt.get(directory) ?? Number.NEGATIVE_INFINITY) < SWEEP_EVERY_MS) continue;
      if (sweptAt.size >= REMEMBERED_DIRECTORIES) sweptAt.clear();
      sweptAt.set(directory, now);
      sweepDirectory(containment, directory);
    }
  };
}

/**
 * A maker of backups that are no longer needed: a dead process, or one whose contents (SHA-256) are all kept
 * elsewhere.
 */
interface KnownMaker {
  readonly pid: number;
  readonly kept: ReadonlySet<string> | undefined;
}

/** Removes the leftovers of dead processes in a directory, immediately. */
export function sweepDirectory(containment: Containment, directory: string, known?: KnownMaker): void {
  const { opener } = containment;
  let handle: Handle | 'missing' | 'other' | undefined;
  try {
    handle = opener.openDirectory(directory);
    if (handle === 'missing' || handle === 'other' || handle.name() !== directory) return;
    removeDeadRemover(handle);
    for (const name of entryNames(handle.at)) {
      if (name === LOCK_NAME) removeDeadLock(handle);
      else if (isLeftBehind(containment, handle, name, known)) removeIfThere(`${handle.at}/${name}`);
    }
  } catch {
    // The write succeeded; this cleanup is optional.
  } finally {
    if (typeof handle === 'object') handle.close();
  }
}

function isLeftBehind(
  containment: Containment,
  handle: Handle,
  name: string,
  known: KnownMaker | undefined,
): boolean {
  const made = readTemporaryName(name);
  if (made === undefined || made.maker === 'alive') return false;
  const at = `${handle.at}/${name}`;
  if (made.maker === 'gone') {
    if (made.kind === 'content' || made.pid === known?.pid) return true;
    if (known?.kept?.has(hashEntry(containment, at)) === true) return true;
  }
  const entry = entryStat(at);
  // The change time: a backup is the old file itself and keeps its other times.
  const age = entry === undefined ? 0 : systemClock.now() - entry.ctimeMs;
  return age > (made.kind === 'backup' ? BACKUP_KEPT_MS : DAY_MS);
}

/** Taking the lock takes it over from a dead process. */
function removeDeadLock(handle: Handle): void {
  const locks = new DirectoryLocks(undefined);
  try {
    locks.take(handle);
  } catch {
    // A living process holds it.
  } finally {
    locks.release();
  }
}
