import type { Clock, Logger } from '../../contract/context.js';
import type { JsonObject } from '../../contract/json.js';
import { systemClock } from '../../platform/clock/clock.js';

type Level = keyof Logger;

/** The host program's logger, frozen, so that one that throws changes no answer and no tool can replace its methods. */
export function shieldLogger(logger: Logger): Logger {
  const write =
    (level: Level): Logger[Level] =>
    (data: JsonObject, message: string) => {
      try {
        const written: unknown = logger[level](data, message);
        ignoreRejection(written);
      } catch {
        // The log is what is broken: there is no other place to report it.
      }
    };
  return Object.freeze({
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  });
}

/** The host program's clock; where it throws or tells no number, the system's own answers. */
export function shieldClock(clock: Clock): Clock {
  if (clock === systemClock) return clock;
  const read = (name: 'now' | 'monotonic'): number => {
    try {
      const time: unknown = clock[name]();
      if (typeof time === 'number' && Number.isFinite(time)) return time;
      ignoreRejection(time);
    } catch {
      // Answered by the system's clock below.
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

/** What should have answered at once has given a promise: should it reject, the host program must not end by it. */
export function ignoreRejection(value: unknown): void {
  if (value instanceof Promise) value.catch(() => {});
}

function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // A timer that cannot be taken back rings for nothing.
  }
}
