import type { Clock } from '../../contract/context.js';

/** The system clock. By default its timers keep the process alive until they fire or are cancelled. */
export function createClock(timersKeepAlive = true): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(delayMs, callback) {
      // A longer delay would fire immediately.
      const timer = setTimeout(callback, Math.min(delayMs, LONGEST_MS));
      if (!timersKeepAlive) timer.unref();
      return () => clearTimeout(timer);
    },
  };
}

/** The limit of a timer: 24 days. */
const LONGEST_MS = 2_147_483_647;

export const systemClock: Clock = createClock();

/** For work that may be dropped if the program has nothing else to do. */
export const idleClock: Clock = createClock(false);

/** Keeps the process alive on demand, with one timer instead of one per use. */
export interface Wakefulness {
  on(): void;
  off(): void;
  /** Switches it off permanently. */
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

/** Blocks this thread. */
export function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Resolves after all immediate work: a tick requested by a microtask comes after all microtasks. */
export function afterThisCallback(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}
