import { readdirSync, statSync } from 'node:fs';

/**
 * Tells one list of entries of a directory from the next without reading it. Undefined where there is none; never
 * the same twice where it has changed so lately that the next change may bear the same time.
 */
export function directoryPrint(path: string): string | undefined {
  try {
    const { dev, ino, mtimeMs, ctimeMs } = statSync(path);
    return Date.now() - ctimeMs < LATELY_MS ? `${Math.random()}` : `${dev}:${ino}:${mtimeMs}:${ctimeMs}`;
  } catch {
    return undefined;
  }
}

const LATELY_MS = 50;

export interface NamedEntry {
  readonly name: string;
  readonly type: 'file' | 'dir';
}

/** Files and directories in it; neither links nor sockets, pipes and devices. Empty where it cannot be read. */
export function plainEntries(path: string): readonly NamedEntry[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry): NamedEntry[] => {
      if (entry.isDirectory()) return [{ name: entry.name, type: 'dir' }];
      return entry.isFile() ? [{ name: entry.name, type: 'file' }] : [];
    });
  } catch {
    return [];
  }
}
