import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock.js';
import { pause } from '../platform/pause.js';
import { DirectoryBusy } from './directory-locks.js';

/** Locks are held for milliseconds: one that does not change for this long, and whose holder cannot be looked up, was left behind. */
const ABANDONED_MS = 3_000;
const GIVE_UP_MS = 15_000;

/**
 * Repeats an attempt while other processes hold what it needs. `attempt` is told the lock that nobody holds any more.
 * @throws ToolError `execution_failed` after fifteen seconds, and whatever `check` throws before an attempt
 */
export async function whileBusy<Value>(
  attempt: (abandoned: string | undefined) => Value | Promise<Value>,
  check: () => void = NOTHING,
): Promise<Value> {
  let waiting: { readonly since: number; lock: string; lockSince: number } | undefined;
  for (;;) {
    check();
    const now = waiting === undefined ? 0 : systemClock.monotonic();
    const isAbandoned = waiting !== undefined && now - waiting.lockSince > ABANDONED_MS;
    try {
      return await attempt(isAbandoned ? waiting?.lock : undefined);
    } catch (error) {
      if (!(error instanceof DirectoryBusy)) throw error;
      const at = systemClock.monotonic();
      waiting ??= { since: at, lock: error.lock, lockSince: at };
      if (waiting.lock !== error.lock) Object.assign(waiting, { lock: error.lock, lockSince: at });
      if (at - waiting.since > GIVE_UP_MS) throw busyForLong(error);
    }
    // Not all at once again.
    await pause(1 + Math.random() * 4);
  }
}

function busyForLong(cause: DirectoryBusy): ToolError {
  const message =
    'Cannot write: other processes keep replacing files in the same directory. Try again later.';
  return new ToolError('execution_failed', message, { cause, details: { errno: 'EBUSY' } });
}

const NOTHING = (): void => {};
