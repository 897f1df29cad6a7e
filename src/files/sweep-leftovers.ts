import { dirname } from 'node:path';
import { systemClock } from '../platform/clock/clock.js';
import { entryNames, entryStat } from '../platform/fs/fs-entry.js';
import type { Handle } from '../platform/fs/open-handle.js';
import type { Containment } from './containment.js';
import { DirectoryLocks, LOCK_NAME, removeDeadRemover, removeIfThere } from './directory-locks.js';
import { hashEntry } from './entry-content.js';
import { readTemporaryName } from './temporary-name.js';

/** A directory is not looked through more often than this. */
const SWEEP_EVERY_MS = 60_000;
const REMEMBERED_DIRECTORIES = 1000;
const DAY_MS = 86_400_000;
/** Of a change that was interrupted, a backup is all there is of what was replaced: time to put it back by hand. */
const BACKUP_KEPT_MS = 7 * DAY_MS;

/**
 * Removes, beside files that were just written, what processes left there that were killed in the middle of a write.
 * Only what is ours by its name, and whose maker is gone; where that cannot be told, after a day.
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

/** Whose backups are needed no more: those of a dead process, and all whose content is kept elsewhere (SHA-256). */
interface KnownMaker {
  readonly pid: number;
  readonly kept: ReadonlySet<string> | undefined;
}

/** Removes from a directory what dead processes have left in it, at once. */
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
    // The write was done; tidying up after others is a courtesy.
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
  // The time of its making: a backup is the old file itself, with the old file's other times.
  const age = entry === undefined ? 0 : systemClock.now() - entry.ctimeMs;
  return age > (made.kind === 'backup' ? BACKUP_KEPT_MS : DAY_MS);
}

/** To take it means to take it over from a process that is gone. */
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
