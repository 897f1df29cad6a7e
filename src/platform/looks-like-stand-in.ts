import { readdirSync } from 'node:fs';

/** Whether a directory may be a stand-in of `holdStandIn`, ours or another program's: told without loading all of it. */
export function looksLikeStandIn(path: string): boolean {
  try {
    const names = readdirSync(path);
    return names.length > 0 && names.every((name) => name.startsWith('toolexec-'));
  } catch {
    return false;
  }
}
