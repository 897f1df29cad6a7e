import type { Confinement, Denial } from '../../contract/processes.js';
import { isWithin } from './is-within.js';

/**
 * What the wall has kept from a command, as far as its last words tell.
 * @param said the end of its output
 */
export function tellDenied({ roots, network }: Confinement, said: string): readonly Denial[] {
  const denied: Denial[] = [];
  if (READ_ONLY.test(said)) denied.push('write');
  if (!network && NO_NETWORK.test(said)) denied.push('network');
  if (namesHidden(said, roots)) denied.push('outside');
  return denied;
}

const READ_ONLY = /read-only file ?system|EROFS/i;

const NO_NETWORK =
  /network is unreachable|could not resolve host|temporary failure in name resolution|name or service not known|ENETUNREACH|EAI_AGAIN|getaddrinfo ENOTFOUND|no route to host/i;

const MISSING =
  /(\/[^\s:'"‘’]+)['"’]?: no such file or directory|no such file or directory,[^\n]*?'(\/[^']+)'/gi;

/** Whether the path is there on the machine is not for the command to know. */
function namesHidden(said: string, roots: readonly string[]): boolean {
  const shown = [...roots, ...SHOWN];
  return [...said.matchAll(MISSING)].some(([, first, second]) => {
    const path = first ?? second ?? '';
    return !shown.some((place) => isWithin(path, place));
  });
}

/** Where what is missing is missing. `/tmp` is another one for each command. */
const SHOWN = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/dev', '/proc'];
