import type { Clock } from '../contract/context.js';

/** The machine's own time. Its timers keep the process alive until they fire or are taken back, unless told not to. */
export function createClock(timersKeepAlive = true): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(delayMs, callback) {
      const timer = setTimeout(callback, delayMs);
      if (!timersKeepAlive) timer.unref();
      return () => clearTimeout(timer);
    },
  };
}

export const systemClock: Clock = createClock();

/** Its timers are for what need not happen any more once the program has nothing else to do. */
export const idleClock: Clock = createClock(false);
