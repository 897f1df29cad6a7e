import { linkText, realPath } from '../../platform/fs-entry.js';

/**
 * The minimal root: programs and libraries read-only, what they look up in `/etc`, devices that hold nothing, processes
 * of the sandbox alone. Not `/`, which would bring the sockets in `/run`.
 */
export function systemMounts(): readonly string[] {
  mounts ??= [
    ...['--ro-bind', '/usr', '/usr'],
    ...TOP.flatMap(topEntry),
    ...STORES.filter(exists).flatMap((path) => ['--ro-bind', path, path]),
    ...LOOKED_UP.filter(exists).flatMap((path) => ['--ro-bind-try', path, path]),
    ...KEYS.filter(exists).flatMap((path) => ['--tmpfs', path]),
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
  ];
  return mounts;
}

let mounts: readonly string[] | undefined;

/** Links into `/usr` on most systems, directories on others. */
const TOP = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Where whole systems keep their programs. */
const STORES = ['/nix/store', '/gnu/store'];

/** Names, not secrets: without them programs know neither users nor certificates nor their own libraries. */
const LOOKED_UP = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'debian_version',
  'fonts',
  'gitconfig',
  'group',
  'host.conf',
  'hosts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'locale.alias',
  'localtime',
  'lsb-release',
  'magic',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'pki',
  'protocols',
  'resolv.conf',
  'services',
  'ssl',
  'terminfo',
  'timezone',
].map((name) => `/etc/${name}`);

/** Private keys among the certificates. */
const KEYS = ['/etc/ssl/private', '/etc/pki/tls/private'];

function topEntry(path: string): string[] {
  const target = linkText(path);
  if (target !== undefined) return ['--symlink', target, path];
  return exists(path) ? ['--ro-bind', path, path] : [];
}

function exists(path: string): boolean {
  return realPath(path) !== undefined;
}
