import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { readEnvironment } from './environment.js';

/**
 * The real places of a program on `PATH`, in its order. Relative entries do not count: the working directory has no
 * say in what a program is.
 */
export function findProgram(name: string): string[] {
  const { PATH = '', Path = PATH } = readEnvironment();
  const file = process.platform === 'win32' ? `${name}.exe` : name;
  return Path.split(delimiter)
    .filter(isAbsolute)
    .flatMap((folder) => realProgram(join(folder, file)) ?? []);
}

function realProgram(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    const real = realpathSync.native(path);
    return statSync(real).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}
