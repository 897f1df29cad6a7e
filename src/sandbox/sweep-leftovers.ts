import { dirname } from 'node:path';
import { systemClock } from '../platform/clock.js';
import { entryNames, entryStat } from '../platform/fs-entry.js';
import type { Pin } from '../platform/fs-pin.js';
import { DirectoryLocks, LOCK_NAME, removeIfThere } from './directory-locks.js';
import type { Enclosure } from './enclosure.js';
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
export function createSweeper(enclosure: Enclosure): (written: readonly string[]) => void {
  const sweptAt = new Map<string, number>();
  return (written) => {
    for (const directory of new Set(written.map((path) => dirname(path)))) {
      const now = systemClock.monotonic();
      if (now - (sweptAt.get(directory) ?? Number.NEGATIVE_INFINITY) < SWEEP_EVERY_MS) continue;
      if (sweptAt.size >= REMEMBERED_DIRECTORIES) sweptAt.clear();
      sweptAt.set(directory, now);
      sweepDirectory(enclosure, directory);
    }
  };
}

/**
 * Removes from a directory what dead processes have left in it, at once.
 * @param settled the id of a dead process whose backups nobody needs any more
 */
export function sweepDirectory({ pinner }: Enclosure, directory: string, settled?: number): void {
  let pin: Pin | 'missing' | 'other' | undefined;
  try {
    pin = pinner.pinDirectory(directory);
    if (pin === 'missing' || pin === 'other' || pin.name() !== directory) return;
    for (const name of entryNames(pin.at)) {
      if (name === LOCK_NAME) removeDeadLock(pin);
      else if (isLeftBehind(pin, name, settled)) removeIfThere(`${pin.at}/${name}`);
    }
  } catch {
    // The write was done; tidying up after others is a courtesy.
  } finally {
    if (typeof pin === 'object') pin.close();
  }
}

function isLeftBehind(pin: Pin, name: string, settled: number | undefined): boolean {
  const made = readTemporaryName(name);
  if (made === undefined || made.maker === 'alive') return false;
  if (made.maker === 'gone' && (made.kind === 'content' || made.pid === settled)) return true;
  const entry = entryStat(`${pin.at}/${name}`);
  // The time of its making: a backup is the old file itself, with the old file's other times.
  const age = entry === undefined ? 0 : systemClock.now() - entry.ctimeMs;
  return age > (made.kind === 'backup' ? BACKUP_KEPT_MS : DAY_MS);
}

/** To take it means to take it over from a process that is gone. */
function removeDeadLock(pin: Pin): void {
  const locks = new DirectoryLocks(undefined);
  try {
    locks.take(pin);
  } catch {
    // Somebody holds it.
  } finally {
    locks.release();
  }
}
