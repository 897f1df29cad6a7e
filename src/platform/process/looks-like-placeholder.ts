import { readdirSync } from 'node:fs';

/** Whether a directory may be a placeholder of `holdPlaceholder`, ours or another program's: told without loading all of it. */
export function looksLikePlaceholder(path: string): boolean {
  try {
    const names = readdirSync(path);
    return names.length > 0 && names.every((name) => name.startsWith('toolexec-'));
  } catch {
    return false;
  }
}
