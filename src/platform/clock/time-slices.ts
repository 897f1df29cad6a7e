import { setImmediate } from 'node:timers/promises';

/** Work on the event loop in short slices, so that other work is not delayed. */
export interface TimeSlices {
  /** Whether the current slice is over. */
  isOver(): boolean;
  /** Lets other work run, and starts the next slice. */
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
