import { basename } from 'node:path';
import type {
  CommandLimits,
  CommandSandbox,
  Confinement,
  Denial,
  KeptOutput,
  LimitHit,
} from '../contract/processes.js';
import { findLimitHit } from './command-limits.js';
import { isWithin } from './sandbox/mount-holder.js';

interface Told {
  readonly wall?: CommandSandbox;
  readonly limit?: LimitHit;
}

interface Ended extends Told {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly aborted: boolean;
}

/** What stood in the way of a command that failed, as far as its last words tell. */
export function explainEnd(
  { confinement, limits = {} }: { readonly confinement?: Confinement; readonly limits?: CommandLimits },
  end: Ended,
  said: string,
): Told {
  if (end.exitCode === 0 || end.aborted) return {};
  const limit = end.limit ?? findLimitHit(limits, end, said);
  const isSandboxed = confinement !== undefined && end.wall !== undefined && end.wall.kind !== 'none';
  const denied = isSandboxed ? explainDenied(confinement, said) : [];
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(denied.length === 0 || end.wall === undefined ? {} : { wall: { ...end.wall, denied } }),
  };
}

/** Programs say on either stream what they could not do. */
export function lastWords({ stdout, stderr }: Record<'stdout' | 'stderr', Said>): string {
  const end = ({ head, tail, binary }: Said): string => (binary ? '' : (head + tail).slice(-4096));
  return `${end(stdout)}\n${end(stderr)}`;
}

type Said = Pick<KeptOutput, 'head' | 'tail' | 'binary'>;

/**
 * What the sandbox has kept from a command, as far as its last words tell.
 * @param said the end of its output
 */
export function explainDenied({ roots, network, guarded }: Confinement, said: string): readonly Denial[] {
  const denied: Denial[] = [];
  const lines = said.split('\n').filter((line) => COVERED.test(line));
  const hidden = lines.length === 0 ? [] : guarded().hidden.map(({ path }) => basename(path));
  const ofHidden = lines.filter((line) => OWN_WORDS.test(line) || hidden.some((name) => line.includes(name)));
  if (READ_ONLY.test(said) || lines.some((line) => BUSY.test(line) && !ofHidden.includes(line)))
    denied.push('write');
  if (ofHidden.length > 0) denied.push('hidden');
  if (!network && NO_NETWORK.test(said)) denied.push('network');
  if (namesHidden(said, roots) || OUTSIDE_OF_GIT.test(said)) denied.push('outside');
  return denied;
}

const READ_ONLY = /read-only file ?system|EROFS/i;

/** What replacing or removing a path says that something is mounted on. */
const BUSY = /device or resource busy|EBUSY/i;

/** The same, what reading one says, what git says about one that is no file, and what our filter says. */
const COVERED =
  /device or resource busy|EBUSY|permission denied|EACCES|can only add regular files|unsupported file type|cannot hash|hidden-by-toolexec|hidden from commands/i;

const OWN_WORDS = /hidden-by-toolexec|hidden from commands/;

/** Git, which has looked for its settings at home, for objects that it borrows, or for a repository elsewhere. */
const OUTSIDE_OF_GIT =
  /please tell me who you are|unable to normalize alternate object path|object directory \S+ does not exist|not a git repository: \S*\/\.git\//i;

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
