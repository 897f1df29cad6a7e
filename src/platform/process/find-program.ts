import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { readEnvironment } from '../runtime/environment.js';

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

/** The system's own places: no variable says what stands between us and a command. */
const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

/** A program that the system has installed, by its real path: neither it nor its directory is writable by others. */
export function findTrustedProgram(name: string): string | undefined {
  for (const folder of FOLDERS) {
    const file = trusted(`${folder}/${name}`);
    if (file !== undefined) return file;
  }
  return undefined;
}

/** One that lies there, and that another user could have made or changed. */
export function findUntrustedProgram(name: string): string | undefined {
  const paths = FOLDERS.map((folder) => `${folder}/${name}`);
  return paths.find((path) => realProgram(path) !== undefined && trusted(path) === undefined);
}

function trusted(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    const real = realpathSync.native(path);
    return statSync(real).isFile() && isGuarded(real) && isGuarded(dirname(real)) ? real : undefined;
  } catch {
    return undefined;
  }
}

const WRITABLE_BY_OTHERS = 0o022;

function isGuarded(path: string): boolean {
  const { uid, mode } = statSync(path);
  return uid === 0 && (mode & WRITABLE_BY_OTHERS) === 0;
}
