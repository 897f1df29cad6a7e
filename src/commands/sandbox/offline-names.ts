import { hasIp6 } from '../../platform/process/room-keeper.js';
import { readWhole } from '../../platform/process/transaction-directory.js';

/** A file that programs read inside, and how bubblewrap puts it there. */
export interface GivenFile {
  readonly text: string;
  /** @param descriptor that it is read from */
  readonly arguments: (descriptor: number) => readonly string[];
}

/** Only root can listen there, and there is no root inside: each question is a datagram to a closed port, over IPv6. */
const LOOPBACK_6 = '::1';
/** For documentation (RFC 5737): a look-up counts as a connection that was refused. */
const UNREACHABLE = '192.0.2.1';

/**
 * Where programs look up names while the network is off, so that the kernel counts a look-up apart from a connection.
 * @param hasLoopback6 of their network namespace; left out: it is a new one
 */
export function offlineNames(hasLoopback6: boolean = hasIp6()): readonly GivenFile[] {
  const server = hasLoopback6 ? LOOPBACK_6 : UNREACHABLE;
  return [
    made('/etc/resolv.conf', `nameserver ${server}\noptions timeout:1 attempts:1\n`),
    ...(hasLoopback6 ? localhost6() : []),
  ];
}

/**
 * On many machines `localhost` has no IPv6 address in `/etc/hosts`: a program that wants only that one would ask the name
 * server. Here it has one, and the other one stays the first that programs try.
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
