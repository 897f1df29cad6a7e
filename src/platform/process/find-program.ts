import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { readEnvironment } from '../runtime/environment.js';

/**
 * The real paths of a program on `PATH`, in the order of `PATH`. Relative entries are skipped, so that the
 * working directory has no influence on which program is found.
 * @param counts left out: every directory counts
 */
export function findProgram(name: string, counts: (folder: string) => boolean = () => true): string[] {
  const { PATH = '', Path = PATH } = readEnvironment();
  const file = process.platform === 'win32' ? `${name}.exe` : name;
  return Path.split(delimiter)
    .filter((folder) => isAbsolute(folder) && counts(folder))
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

/** The system's own directories. No environment variable decides which program isolates a command. */
const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

/**
 * The real path of a program that the system has installed. Other users can write neither the program nor its
 * directory.
 */
export function findTrustedProgram(name: string): string | undefined {
  for (const folder of FOLDERS) {
    const file = trusted(`${folder}/${name}`);
    if (file !== undefined) return file;
  }
  return undefined;
}

/** A program in one of these directories that another user could have made or changed. */
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
