import { unlinkSync } from 'node:fs';

/** Takes one name away, without a look at what it is. */
export function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is gone, which is what was wanted.
  }
}
