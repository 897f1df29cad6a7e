import { dirname, isAbsolute } from 'node:path';
import { entryStat, realPath } from '../../platform/fs-entry.js';
import { isWithin } from './is-within.js';

export interface ProgramScope {
  /** `PATH` and `HOME` of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly roots: readonly string[];
}

/** Mounts of the directories on `PATH` that the minimal root has not: a Node under the home directory, say. */
export function programMounts({ env, roots }: ProgramScope): readonly string[] {
  const key = JSON.stringify([env.PATH, env.HOME, roots]);
  const known = seen.get(key);
  if (known !== undefined) return known;
  const args = lookedUp(env.PATH ?? '', env.HOME, roots).flatMap(([real, path]) => [
    '--ro-bind-try',
    real,
    path,
  ]);
  if (seen.size > MOST_SEEN) seen.clear();
  seen.set(key, args);
  return args;
}

/** Where programs lie changes seldom; a host that installs some says another `PATH`, or starts anew. */
const seen = new Map<string, readonly string[]>();
const MOST_SEEN = 100;

/** What the system's mounts hold already, and what is no place for programs. */
const ELSEWHERE = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/nix/store',
  '/gnu/store',
  '/proc',
  '/sys',
  '/dev',
];

/** Beside `bin`: what its programs are made of (npm is a link into `lib`). `share` may hold what is the person's. */
const PARTS = ['lib', 'lib64', 'libexec'];

function lookedUp(
  searchPath: string,
  home: string | undefined,
  roots: readonly string[],
): [string, string][] {
  const folders = searchPath
    .split(':')
    .filter((folder) => isAbsolute(folder) && isAllowed(folder, home, roots));
  return [...new Set(folders)].flatMap((folder) => [
    ...directory(folder),
    ...PARTS.flatMap((part) => {
      const beside = `${dirname(folder)}/${part}`;
      return /\/s?bin$/.test(folder) && isAllowed(beside, home, roots) ? directory(beside) : [];
    }),
  ]);
}

/** Not what holds the home directory or a root: that would show all that lies beside. */
function isAllowed(folder: string, home: string | undefined, roots: readonly string[]): boolean {
  const real = realPath(folder) ?? folder;
  const kept = [...roots, ...(home === undefined ? [] : [home, realPath(home) ?? home])];
  return [folder, real].every(
    (path) =>
      path !== '/' &&
      !ELSEWHERE.some((place) => isWithin(path, place)) &&
      !roots.some((root) => isWithin(path, root)) &&
      !kept.some((place) => isWithin(place, path)),
  );
}

function directory(path: string): [string, string][] {
  const real = realPath(path);
  return real !== undefined && entryStat(real)?.isDirectory() === true ? [[real, path]] : [];
}
