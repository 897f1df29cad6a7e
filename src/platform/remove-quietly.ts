import { rmSync } from 'node:fs';

/** With all that is in it, if it is there and can be removed. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It is not ours to remove.
  }
}
