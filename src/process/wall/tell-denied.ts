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
  if (namesHidden(said, roots) || NO_HOME.test(said)) denied.push('outside');
  return denied;
}

/** The second is what replacing or removing a path says that something is mounted on; the third is git about one. */
const READ_ONLY = /read-only file ?system|EROFS|device or resource busy|EBUSY|can only add regular files/i;

/** Git, which has looked for its settings at home. */
const NO_HOME = /please tell me who you are/i;

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
