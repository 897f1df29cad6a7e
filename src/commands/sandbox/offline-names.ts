import { hasIp6 } from '../../platform/process/room-keeper.js';
import { readWhole } from '../../platform/process/transaction-directory.js';

/** A file for programs inside, and its bubblewrap arguments. */
export interface GivenFile {
  readonly text: string;
  /** @param descriptor the source of its content */
  readonly arguments: (descriptor: number) => readonly string[];
}

/**
 * Only root can listen there, and there is no root inside: each query is a datagram to a closed port, over
 * IPv6.
 */
const LOOPBACK_6 = '::1';
/** A documentation address (RFC 5737): a look-up counts as a refused connection. */
const UNREACHABLE = '192.0.2.1';

/**
 * Files for name look-ups while the network is off, so that the kernel counts a look-up separately from a
 * connection.
 * @param hasLoopback6 of their network namespace; default: of a new one
 */
export function offlineNames(hasLoopback6: boolean = hasIp6()): readonly GivenFile[] {
  const server = hasLoopback6 ? LOOPBACK_6 : UNREACHABLE;
  return [
    made('/etc/resolv.conf', `nameserver ${server}\noptions timeout:1 attempts:1\n`),
    ...(hasLoopback6 ? localhost6() : []),
  ];
}

/**
 * On many machines `localhost` has no IPv6 address in `/etc/hosts`, so a program that wants one would query
 * the name server. This file adds one, after the IPv4 address.
 */
function localhost6(): readonly GivenFile[] {
  const known = readWhole(HOSTS);
  if (known === undefined || /^\s*::1\s+(?:\S+\s+)*localhost(?:\s|$)/m.test(known)) return [];
  return [
    {
      text: `${known}\n::1 localhost\n`,
      arguments: (descriptor) => ['--ro-bind-data', `${descriptor}`, HOSTS],
    },
    made('/etc/gai.conf', 'precedence ::ffff:0:0/96 100\n'),
  ];
}

const HOSTS = '/etc/hosts';

function made(path: string, text: string): GivenFile {
  return { text, arguments: (descriptor) => ['--perms', '0444', '--file', `${descriptor}`, path] };
}
