import type { Clock, Logger } from '../../contract/context.js';
import type { JsonObject } from '../../contract/json.js';
import { systemClock } from '../../platform/clock/clock.js';

type Level = keyof Logger;

/**
 * Wraps and freezes the host program's logger: if the logger throws, no answer changes, and no tool can
 * replace its methods.
 */
export function shieldLogger(logger: Logger): Logger {
  const write =
    (level: Level): Logger[Level] =>
    (data: JsonObject, message: string) => {
      try {
        const written: unknown = logger[level](data, message);
        ignoreRejection(written);
      } catch {
        // The log itself is broken, so there is no place to report the error.
      }
    };
  return Object.freeze({
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  });
}

/**
 * Wraps the host program's clock. If it throws or returns a value that is not a number, the system clock is
 * used.
 */
export function shieldClock(clock: Clock): Clock {
  if (clock === systemClock) return clock;
  const read = (name: 'now' | 'monotonic'): number => {
    try {
      const time: unknown = clock[name]();
      if (typeof time === 'number' && Number.isFinite(time)) return time;
      ignoreRejection(time);
    } catch {
      // Fall through to the system clock below.
    }
    return systemClock[name]();
  };
  return Object.freeze({
    now: () => read('now'),
    monotonic: () => read('monotonic'),
    after(delayMs: number, callback: () => void) {
      try {
        const forget: unknown = clock.after(delayMs, callback);
        ignoreRejection(forget);
        return typeof forget === 'function' ? () => quietly(forget as () => void) : () => {};
      } catch {
        return systemClock.after(delayMs, callback);
      }
    },
  });
}

/**
 * Ignores the rejection of a promise that came where a direct answer was expected, so that it cannot end the
 * host program.
 */
export function ignoreRejection(value: unknown): void {
  if (value instanceof Promise) value.catch(() => {});
}

function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // If a timer cannot be cancelled, its callback does nothing when it fires.
  }
}
