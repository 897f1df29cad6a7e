import type { Confinement } from '../../contract/processes.js';
import { NETWORK_WALL, WALLS } from './bubblewrap-flags.js';
import { guardMounts } from './guard-mounts.js';
import { isWithin } from './is-within.js';
import { programMounts } from './program-mounts.js';
import { networkMounts, systemMounts } from './system-mounts.js';

export interface WalledStart {
  readonly confinement: Confinement;
  /** Of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The program that runs inside, with its arguments. */
  readonly program: readonly string[];
}

/** What bubblewrap is told for one command. What comes later lies over what came before. */
export function bubblewrapArguments({ confinement, env, cwd, program }: WalledStart): readonly string[] {
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
    ...homeMount(env.HOME, roots),
    ...programMounts({ env, roots }),
    ...readable.flatMap((path) => ['--ro-bind-try', path, path]),
    ...roots.filter((root) => root !== '/').flatMap((root) => ['--bind', root, root]),
    ...guardMounts(confinement.guarded()),
    ...(isWhole ? [] : ['--remount-ro', '/']),
    ...['--chdir', cwd, '--', ...program],
  ];
}

/** An empty place for caches and settings, gone with the command: programs that cannot write at home often give up. */
function homeMount(home: string | undefined, roots: readonly string[]): readonly string[] {
  if (home === undefined || !/^\/./.test(home)) return [];
  if (isWithin(home, '/tmp')) return ['--dir', home];
  if (roots.includes('/') || SYSTEM.some((place) => isWithin(home, place) || isWithin(place, home)))
    return [];
  return ['--tmpfs', home];
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc', '/dev', '/proc', '/tmp', '/nix', '/gnu'];
