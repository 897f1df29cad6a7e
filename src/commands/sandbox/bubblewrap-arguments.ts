import { dirname, isAbsolute } from 'node:path';
import type { Confinement } from '../../contract/processes.js';
import { entryStat, realPath } from '../../platform/fs/fs-entry.js';
import { isWithin } from './mount-holder.js';
import { networkMounts, systemMounts } from './system-mounts.js';

export interface BubblewrapStart {
  readonly confinement: Pick<Confinement, 'roots' | 'readable' | 'network'>;
  /** Mounts of the roots, and over paths inside them. */
  readonly mounts: readonly string[];
  /** Mounts for `/tmp` and the home directory: those of `OutsidePlaces`, or `inMemory`. */
  readonly empty: readonly string[];
  /** Mounts that replace invisible places, given the visible ones; not if the whole machine is visible. */
  readonly beyond: (isTaken: (path: string) => boolean) => readonly string[];
  /** The environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The command is already in a network namespace. */
  readonly isInRoom: boolean;
  /** Arguments before the roots: the system-call filter and entries in `/dev`. */
  readonly first: readonly string[];
  /** The program that runs inside, with its arguments. */
  readonly program: readonly string[];
}

/** The arguments of bubblewrap for one command. Later mounts cover earlier ones. */
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
    // A root of `/` asks for the whole machine.
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

/** Whether a mount uses a path, or a variable refers to it. */
function takenBy(args: readonly string[], env: Readonly<Record<string, string>>): (path: string) => boolean {
  const mounted = mountedPaths(args);
  const values = Object.values(env);
  return (path) => mounted.has(path) || values.some((value) => value.includes(path));
}

/** An empty `/tmp` and home in memory, for commands whose writes there are not examined. */
export function inMemory(home: string | undefined): readonly string[] {
  const atHome = home === undefined ? [] : [isWithin(home, '/tmp') ? '--dir' : '--tmpfs', home];
  return ['--tmpfs', '/tmp', ...atHome];
}

/** The paths where bubblewrap creates entries before the program runs, and the directories above them. */
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
 * The path of an empty home directory for caches and settings, which disappears with the command: programs
 * that cannot write at home often fail. Undefined if the home is something else.
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
 * Every flag is necessary. Without `--cap-drop ALL`, root inside can mount, and write to the machine; without
 * `--disable-userns` it regains capabilities in its own namespace; without `--new-session` it can type into
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

/** Mounts of directories in `PATH` that the minimal root lacks, for example a Node in the home directory. */
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

/** Program directories rarely change; a host that installs one changes `PATH` or restarts. */
const seen = new Map<string, readonly string[]>();
const MOST_SEEN = 100;

/** Directories that the system's mounts include, or that are not a place for programs. */
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

/**
 * Next to `bin`: the parts of its programs (npm is a link into `lib`). `share` may contain personal files.
 */
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

/** `cargo` and similar programs there are rustup's proxies: the real ones are elsewhere. */
function rustToolchains(folder: string, home: string | undefined): [string, string][] {
  if (home === undefined || folder !== `${home}/.cargo/bin` || !isFile(`${folder}/rustup`)) return [];
  return directory(`${home}/.rustup`);
}

function isFile(path: string): boolean {
  return entryStat(path)?.isFile() === true;
}

/** Not a directory with the home directory or a root in it, because that would show its other entries. */
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
