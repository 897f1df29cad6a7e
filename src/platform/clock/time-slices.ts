import { setImmediate } from 'node:timers/promises';

/** Work that is done on the event loop, in slices that other work has to wait for only shortly. */
export interface TimeSlices {
  /** Whether it is time to let others go on. */
  isOver(): boolean;
  /** Lets them, and begins the next slice. */
  next(): Promise<void>;
}

const SLICE_MS = 10;

export function timeSlices(): TimeSlices {
  let since = performance.now();
  return {
    isOver: () => performance.now() - since > SLICE_MS,
    async next() {
      await setImmediate();
      since = performance.now();
    },
  };
}
