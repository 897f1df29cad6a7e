import { systemClock } from '../platform/clock.js';

/** What `promise` gives, or undefined when it takes longer than `limitMs`. */
export function within<T>(limitMs: number, promise: Promise<T>): Promise<T | undefined> {
  let stop = () => {};
  const late = new Promise<undefined>((resolve) => {
    stop = systemClock.after(limitMs, () => resolve(undefined));
  });
  return Promise.race([promise, late]).finally(() => stop());
}
