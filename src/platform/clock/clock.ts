import type { Clock } from '../../contract/context.js';

/** The machine's own time. Its timers keep the process alive until they fire or are taken back, unless told not to. */
export function createClock(timersKeepAlive = true): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(delayMs, callback) {
      // A longer one would ring at once.
      const timer = setTimeout(callback, Math.min(delayMs, LONGEST_MS));
      if (!timersKeepAlive) timer.unref();
      return () => clearTimeout(timer);
    },
  };
}

/** What a timer can hold: 24 days. */
const LONGEST_MS = 2_147_483_647;

export const systemClock: Clock = createClock();

/** Its timers are for what need not happen any more once the program has nothing else to do. */
export const idleClock: Clock = createClock(false);

/** Keeps the process alive, whenever it is wanted: a timer that is set once, and not for each time. */
export interface Wakefulness {
  on(): void;
  off(): void;
  /** For ever off. */
  end(): void;
}

export function createWakefulness(): Wakefulness {
  const timer = setInterval(() => {}, LONGEST_MS).unref();
  return {
    on: () => void timer.ref(),
    off: () => void timer.unref(),
    end: () => clearInterval(timer),
  };
}

/** Resolves after `delayMs`; keeps the process alive until then. */
export function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs);
  });
}

/** Does nothing for so long, and lets nothing else happen in this thread. */
export function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Resolves when everything is done that was to be done at once: a tick asked for by a microtask comes after all of them. */
export function afterThisCallback(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}
