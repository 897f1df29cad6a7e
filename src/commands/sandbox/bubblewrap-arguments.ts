import { dirname, isAbsolute } from 'node:path';
import type { Confinement } from '../../contract/processes.js';
import { entryStat, realPath } from '../../platform/fs/fs-entry.js';
import { isWithin } from './mount-holder.js';
import { networkMounts, systemMounts } from './system-mounts.js';

export interface BubblewrapStart {
  readonly confinement: Pick<Confinement, 'roots' | 'readable' | 'network'>;
  /** Mounts of the roots, and over what lies in them. */
  readonly mounts: readonly string[];
  /** What makes `/tmp` and the home directory: those of `OutsidePlaces`, or `inMemory`. */
  readonly empty: readonly string[];
  /** What stands for the places that are not shown, by those that are; not where the whole machine is. */
  readonly beyond: (isTaken: (path: string) => boolean) => readonly string[];
  /** Of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** It is in a network namespace already. */
  readonly isInRoom: boolean;
  /** What comes before the roots: the filter of system calls, and what is made in `/dev`. */
  readonly first: readonly string[];
  /** The program that runs inside, with its arguments. */
  readonly program: readonly string[];
}

/** What bubblewrap is told for one command. What comes later lies over what came before. */
export function bubblewrapArguments({
  confinement,
  mounts,
  empty,
  beyond,
  env,
  cwd,
  isInRoom,
  first,
  program,
}: BubblewrapStart): readonly string[] {
  const { roots, readable, network } = confinement;
  const isWhole = roots.includes('/');
  const args = [
    ...ISOLATION_FLAGS,
    ...(network || isInRoom ? [] : NETWORK_FLAGS),
    // Whose root is everything has asked for everything.
    ...(isWhole ? ['--bind', '/', '/'] : []),
    ...systemMounts(),
    ...first,
    ...(network ? networkMounts() : []),
    ...empty,
    ...programMounts({ env, roots }),
    ...readable.flatMap((path) => ['--ro-bind-try', path, path]),
    ...mounts,
  ];
  const last = ['--chdir', cwd, '--', ...program];
  if (isWhole) return [...args, ...last];
  return [...args, ...beyond(takenBy(args, env)), '--remount-ro', '/', ...last];
}

/** By a mount, or by a variable that sends programs there. */
function takenBy(args: readonly string[], env: Readonly<Record<string, string>>): (path: string) => boolean {
  const mounted = mountedPaths(args);
  const values = Object.values(env);
  return (path) => mounted.has(path) || values.some((value) => value.includes(path));
}

/** An empty `/tmp` and home that take no disk, for what is not looked at afterwards. */
export function inMemory(home: string | undefined): readonly string[] {
  const atHome = home === undefined ? [] : [isWithin(home, '/tmp') ? '--dir' : '--tmpfs', home];
  return ['--tmpfs', '/tmp', ...atHome];
}

/** The paths that bubblewrap makes something at before the program runs, and the directories above them. */
export function mountedPaths(args: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const end = args.indexOf('--chdir');
  for (const argument of end === -1 ? args : args.slice(0, end)) {
    for (let path = argument; path.startsWith('/') && path !== '/' && !found.has(path); path = dirname(path))
      found.add(path);
  }
  return found;
}

/**
 * Where the home directory is an empty place for caches and settings, gone with the command: programs that cannot write
 * at home often give up. Undefined where it is something else.
 */
export function emptyHome(home: string | undefined, roots: readonly string[]): string | undefined {
  if (home === undefined || !/^\/./.test(home) || roots.some((root) => isWithin(home, root)))
    return undefined;
  if (isWithin(home, '/tmp')) return home === '/tmp' ? undefined : home;
  const isTaken = SYSTEM.some((place) => isWithin(home, place) || isWithin(place, home));
  return isTaken ? undefined : home;
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc', '/dev', '/proc', '/tmp', '/nix', '/gnu'];

/**
 * Every flag is needed. Without `--cap-drop ALL`, root inside can mount, and write to the machine; without
 * `--disable-userns` it gets the capabilities back in a namespace of its own; without `--new-session` it can type into
 * the terminal; without `--die-with-parent` it outlives us.
 */
export const ISOLATION_FLAGS: readonly string[] = [
  '--die-with-parent',
  '--new-session',
  '--unshare-user',
  '--unshare-pid',
  '--as-pid-1',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
  ...['--cap-drop', 'ALL'],
  '--disable-userns',
];

export const NETWORK_FLAGS: readonly string[] = ['--unshare-net'];

interface ProgramScope {
  /** `PATH` and `HOME` of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly roots: readonly string[];
}

/** Mounts of the directories on `PATH` that the minimal root has not: a Node under the home directory, say. */
function programMounts({ env, roots }: ProgramScope): readonly string[] {
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

/** Where programs lie changes seldom; a host that installs some says another `PATH`, or starts again. */
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
    ...rustToolchains(folder, home),
  ]);
}

/** What `cargo` and the like are there is rustup: the real ones lie elsewhere. */
function rustToolchains(folder: string, home: string | undefined): [string, string][] {
  if (home === undefined || folder !== `${home}/.cargo/bin` || !isFile(`${folder}/rustup`)) return [];
  return directory(`${home}/.rustup`);
}

function isFile(path: string): boolean {
  return entryStat(path)?.isFile() === true;
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
