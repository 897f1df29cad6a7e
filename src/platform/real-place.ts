import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Where a path leads, links followed as far as it exists; what does not exist yet is appended as it is written. */
export function realPlace(path: string): string {
  const missing: string[] = [];
  for (let at = resolve(path); ; at = dirname(at)) {
    try {
      return join(realpathSync.native(at), ...missing);
    } catch {
      if (dirname(at) === at) return resolve(path);
      missing.unshift(basename(at));
    }
  }
}
