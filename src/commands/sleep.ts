import { systemClock } from '../platform/clock.js';

export function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => systemClock.after(delayMs, resolve));
}
