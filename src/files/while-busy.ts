import type { Clock } from '../contract/context.js';
import { ToolError } from '../errors/tool-error.js';
import { pause, systemClock } from '../platform/clock/clock.js';
import { DirectoryBusy, PlaceChanged } from './directory-locks.js';

/**
 * Locks are held for milliseconds. One that does not change for this long, and whose process cannot be
 * checked, is left over.
 */
const ABANDONED_MS = 3_000;
const GIVE_UP_MS = 15_000;
/** Our own writers take turns; a program that changes a file without pause does not. */
const CHANGED_GIVE_UP_MS = 8_000;
/** How many times a file may be swapped for a link: normal writers never do that. */
const MAX_SWAPS = 8;

/**
 * Repeats an attempt while other processes hold a needed lock. `attempt` receives the name of an abandoned
 * lock.
 * @throws ToolError `execution_failed` (`details.errno` is EBUSY) after fifteen seconds, after eight seconds
 * if a file changes during every attempt, or after eight swaps for a link; and any error of `check`
 */
export async function whileBusy<Value>(
  attempt: (abandoned: string | undefined) => Value | Promise<Value>,
  check: () => void = NOTHING,
  { monotonic }: Pick<Clock, 'monotonic'> = systemClock,
): Promise<Value> {
  let waiting: { readonly since: number; lock: string; lockSince: number } | undefined;
  let changed: { readonly since: number; swaps: number } | undefined;
  for (;;) {
    check();
    const now = waiting === undefined ? 0 : monotonic();
    const isAbandoned = waiting !== undefined && now - waiting.lockSince > ABANDONED_MS;
    try {
      return await attempt(isAbandoned ? waiting?.lock : undefined);
    } catch (error) {
      if (!(error instanceof DirectoryBusy)) throw error;
      const at = monotonic();
      waiting ??= { since: at, lock: error.lock, lockSince: at };
      if (waiting.lock !== error.lock) Object.assign(waiting, { lock: error.lock, lockSince: at });
      if (error instanceof PlaceChanged) {
        changed ??= { since: at, swaps: 0 };
        if (error.isSwapped) changed.swaps++;
        if (changed.swaps >= MAX_SWAPS || at - changed.since > CHANGED_GIVE_UP_MS) throw keepsChanging(error);
      }
      if (at - waiting.since > GIVE_UP_MS) throw busyForLong(error);
    }
    // A random delay, so that waiting processes do not collide again.
    await pause(1 + Math.random() * 4);
  }
}

function busyForLong(cause: DirectoryBusy): ToolError {
  const message =
    'Cannot write: other processes keep replacing files in the same directory. Try again later.';
  return new ToolError('execution_failed', message, { cause, details: { errno: 'EBUSY' } });
}

function keepsChanging(cause: PlaceChanged): ToolError {
  const what = cause.isSwapped ? 'swapped for a link' : 'changed';
  const message =
    `Cannot write ${JSON.stringify(cause.file)}: another program has ${what} it again and again in the meantime. ` +
    'Nothing was written. Stop that program, or try again later.';
  return new ToolError('execution_failed', message, { cause, details: { errno: 'EBUSY' } });
}

const NOTHING = (): void => {};
