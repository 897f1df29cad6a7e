import { setFlagsFromString } from 'node:v8';
import type { Scale } from './contents.js';
import { median } from './measure.js';

/**
 * Options of Node for counting bytes: the young generation is so large that no collection runs during the
 * count.
 */
export const COUNTING = ['--expose-gc', '--min-semi-space-size=256', '--max-semi-space-size=256'];

export interface Counting {
  readonly scale: Scale;
  /** Calls that one step makes. */
  readonly together: number;
  /** Calls of a round; all they allocate must fit into the young generation. */
  readonly calls: number;
}

/** Bytes that a step allocates for each of its calls. */
export async function countBytes<T>(
  { scale, together, calls }: Counting,
  step: () => Promise<T>,
  check: (answer: T) => void,
): Promise<number> {
  if (global.gc === undefined) throw new Error('Bytes can only be counted with --expose-gc.');
  // Code that is still being made faster would be counted as well.
  setFlagsFromString('--no-concurrent-recompilation');
  const rounds = scale === 'quick' ? 2 : 12;
  const steps = Math.ceil(calls / together);
  const samples: number[] = [];
  // The first half warms up.
  for (let round = -rounds; round < rounds; round++) {
    global.gc();
    const before = process.memoryUsage().heapUsed;
    for (let done = 0; done < steps; done++) check(await step());
    const bytes = process.memoryUsage().heapUsed - before;
    if (round >= 0) samples.push(bytes / (steps * together));
  }
  return median(samples);
}
