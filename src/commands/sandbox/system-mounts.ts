import { entryNames, linkText, realPath } from '../../platform/fs/fs-entry.js';

/**
 * The minimal root: programs and libraries read-only, the files they need in `/etc`, harmless devices, and
 * only the sandbox's own processes. Not `/`, which would include the sockets in `/run`.
 */
export function systemMounts(): readonly string[] {
  mounts ??= [
    ...programDirectories(),
    ...[...LOOKED_UP, ...javaSettings()].flatMap(lookedUp),
    ...KEYS.filter(exists).flatMap((path) => ['--tmpfs', path, '--remount-ro', path]),
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
    // Root owns these files and needs no capability to write them: `core_pattern` names a program that the
    // kernel runs.
    ...KERNEL.filter(exists).flatMap((path) => ['--ro-bind', path, path]),
  ];
  return mounts;
}

let mounts: readonly string[] | undefined;

/** The part that a system program needs to run. */
export function programDirectories(): readonly string[] {
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...TOP.flatMap(topEntry),
    ...STORES.filter(exists).flatMap((path) => ['--ro-bind', path, path]),
  ];
}

/** Links into `/usr` on most systems, directories on others. */
const TOP = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Package stores of whole systems. */
const STORES = ['/nix/store', '/gnu/store'];

/** Names, not secrets: without them programs find neither users nor certificates nor their own libraries. */
const LOOKED_UP = [
  'alternatives',
  'gitconfig',
  'group',
  'hosts',
  'ld.so.cache',
  // Maven's other settings may contain passwords.
  'maven/logging',
  'maven/m2.conf',
  'localtime',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'pki',
  'ssl',
].map((name) => `/etc/${name}`);

/** Needed to start a system Java: `/etc/java-21-openjdk`. */
function javaSettings(): readonly string[] {
  try {
    return entryNames('/etc').flatMap((name) => (/^java(?:-[\w-]+)?$/.test(name) ? [`/etc/${name}`] : []));
  } catch {
    return [];
  }
}

/** Files that only network programs need. */
const LOOKED_UP_FOR_NETWORK = ['ca-certificates', 'resolv.conf', 'services'].map((name) => `/etc/${name}`);

/** Settings of the machine, in any namespace. */
const KERNEL = ['/proc/sys'];

/** Private keys next to the certificates. */
const KEYS = ['/etc/ssl/private', '/etc/pki/tls/private'];

/** Additional mounts for commands with network access. */
export function networkMounts(): readonly string[] {
  return LOOKED_UP_FOR_NETWORK.flatMap(lookedUp);
}

/** A mount costs a third of a millisecond, a link nothing. */
function lookedUp(path: string): string[] {
  const real = realPath(path);
  if (real === undefined) return [];
  return real.startsWith('/usr/') ? ['--symlink', real, path] : ['--ro-bind-try', real, path];
}

function topEntry(path: string): string[] {
  const target = linkText(path);
  if (target !== undefined) return ['--symlink', target, path];
  return exists(path) ? ['--ro-bind', path, path] : [];
}

function exists(path: string): boolean {
  return realPath(path) !== undefined;
}
