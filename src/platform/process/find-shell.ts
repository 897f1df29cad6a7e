import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/**
 * The absolute path of a shell, undefined when there is none. The system's own places come first, then the absolute
 * entries of `searchPath`: a relative one would let the working directory say what `sh` is.
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
