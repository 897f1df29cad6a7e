import type { Confinement } from '../../contract/processes.js';
import { NETWORK_WALL, WALLS } from './bubblewrap-flags.js';
import { isWithin } from './is-within.js';
import { programMounts } from './program-mounts.js';
import { networkMounts, systemMounts } from './system-mounts.js';

export interface WalledStart {
  readonly confinement: Pick<Confinement, 'roots' | 'readable' | 'network'>;
  /** Mounts of the roots, and over what lies in them. */
  readonly mounts: readonly string[];
  /** Made anew, with nothing in it: of `emptyHome`. */
  readonly home: string | undefined;
  /** Of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The program that runs inside, with its arguments. */
  readonly program: readonly string[];
}

/** What bubblewrap is told for one command. What comes later lies over what came before. */
export function bubblewrapArguments({
  confinement,
  mounts,
  home,
  env,
  cwd,
  program,
}: WalledStart): readonly string[] {
  const { roots, readable, network } = confinement;
  const isWhole = roots.includes('/');
  return [
    ...WALLS,
    ...(network ? [] : NETWORK_WALL),
    // Whose root is everything has asked for everything.
    ...(isWhole ? ['--bind', '/', '/'] : []),
    ...systemMounts(),
    ...(network ? networkMounts() : []),
    ...['--tmpfs', '/tmp'],
    ...(home === undefined ? [] : isWithin(home, '/tmp') ? ['--dir', home] : ['--tmpfs', home]),
    ...programMounts({ env, roots }),
    ...readable.flatMap((path) => ['--ro-bind-try', path, path]),
    ...mounts,
    ...(isWhole ? [] : ['--remount-ro', '/']),
    ...['--chdir', cwd, '--', ...program],
  ];
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
