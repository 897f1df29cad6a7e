import { readdirSync } from 'node:fs';

/**
 * Whether a directory may be a placeholder made by `holdPlaceholder`, in this program or another. Answers
 * without loading that module.
 */
export function looksLikePlaceholder(path: string): boolean {
  try {
    const names = readdirSync(path);
    return names.length > 0 && names.every((name) => name.startsWith('toolexec-'));
  } catch {
    return false;
  }
}
