import { entryNames, linkText, realPath } from '../../platform/fs/fs-entry.js';

/**
 * The minimal root: programs and libraries read-only, what they look up in `/etc`, devices that hold nothing, processes
 * of the sandbox alone. Not `/`, which would bring the sockets in `/run`.
 */
export function systemMounts(): readonly string[] {
  mounts ??= [
    ...programDirectories(),
    ...[...LOOKED_UP, ...javaSettings()].flatMap(lookedUp),
    ...KEYS.filter(exists).flatMap((path) => ['--tmpfs', path, '--remount-ro', path]),
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
    // Root owns these files, and needs no capability to write them: `core_pattern` names a program that the kernel runs.
    ...KERNEL.filter(exists).flatMap((path) => ['--ro-bind', path, path]),
  ];
  return mounts;
}

let mounts: readonly string[] | undefined;

/** The part of it that a program of the system needs to run. */
export function programDirectories(): readonly string[] {
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...TOP.flatMap(topEntry),
    ...STORES.filter(exists).flatMap((path) => ['--ro-bind', path, path]),
  ];
}

/** Links into `/usr` on most systems, directories on others. */
const TOP = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Where whole systems keep their programs. */
const STORES = ['/nix/store', '/gnu/store'];

/** Names, not secrets: without them programs know neither users nor certificates nor their own libraries. */
const LOOKED_UP = [
  'alternatives',
  'gitconfig',
  'group',
  'hosts',
  'ld.so.cache',
  // Maven's own settings beside may hold passwords.
  'maven/logging',
  'maven/m2.conf',
  'localtime',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'pki',
  'ssl',
].map((name) => `/etc/${name}`);

/** A Java that the system has installed does not start without them: `/etc/java-21-openjdk`. */
function javaSettings(): readonly string[] {
  try {
    return entryNames('/etc').flatMap((name) => (/^java(?:-[\w-]+)?$/.test(name) ? [`/etc/${name}`] : []));
  } catch {
    return [];
  }
}

/** What only those look up who reach the network. */
const LOOKED_UP_FOR_NETWORK = ['ca-certificates', 'resolv.conf', 'services'].map((name) => `/etc/${name}`);

/** Of the machine, whatever the namespace. */
const KERNEL = ['/proc/sys'];

/** Private keys among the certificates. */
const KEYS = ['/etc/ssl/private', '/etc/pki/tls/private'];

/** For commands that reach the network, besides. */
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
