import type { Clock } from '../contract/clock.js';

/** The machine's own time. Its timers keep the process alive until they fire or are taken back. */
export function createClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(delayMs, callback) {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
  };
}

export const systemClock: Clock = createClock();
