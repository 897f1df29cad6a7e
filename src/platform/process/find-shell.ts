import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/**
 * The absolute path of a shell; undefined if there is none. The system's own directories are searched first,
 * then the absolute entries of `searchPath`. Relative entries are skipped: otherwise the working directory
 * could decide what `sh` is.
 */
export function findShell(name: 'sh' | 'bash', searchPath = ''): string | undefined {
  const folders = ['/bin', '/usr/bin', '/usr/local/bin', ...searchPath.split(':').filter(isAbsolute)];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
