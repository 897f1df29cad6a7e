import { basename } from 'node:path';
import type {
  CommandLimits,
  CommandRequest,
  CommandSandbox,
  Confinement,
  KeptOutput,
  LimitHit,
  SandboxRefusal,
} from '../contract/processes.js';
import { entryStat } from '../platform/fs/fs-entry.js';
import { findLimitHit } from './command-limits.js';
import { isWithin } from './sandbox/mount-holder.js';

interface Told {
  readonly sandbox?: CommandSandbox;
  readonly limit?: LimitHit;
}

interface Ended extends Told {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly aborted: boolean;
  /** As the kernel says. */
  readonly refused?: readonly SandboxRefusal[];
}

/** Why a command failed, as far as the sandbox or a limit stood in its way. */
export function explainEnd(request: Request, end: Ended, { said, isSilent }: Words): Told {
  if (end.exitCode === 0) return {};
  const { confinement, limits = {} } = request;
  const isSandboxed = confinement !== undefined && end.sandbox !== undefined && end.sandbox.kind !== 'none';
  const ofFiles = isSandboxed && !end.aborted ? refusedFiles(confinement, said) : [];
  const found = [...new Set([...(end.refused ?? []), ...ofFiles])];
  const isGuessed = isSandboxed && !end.aborted && isSilent && found.length === 0;
  const refused = isGuessed ? refusedNames(request, confinement) : found;
  const limit = end.aborted ? undefined : (end.limit ?? findLimitHit(limits, end, said));
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(refused.length === 0 || end.sandbox === undefined ? {} : { sandbox: { ...end.sandbox, refused } }),
  };
}

interface Request extends Pick<CommandRequest, 'targets' | 'sources'> {
  readonly confinement?: Confinement | undefined;
  readonly limits?: CommandLimits;
  readonly env?: CommandRequest['env'];
}

interface Words {
  readonly said: string;
  /** It has said nothing of errors: they may have been thrown away. */
  readonly isSilent: boolean;
}

/** Programs say on either stream what they could not do. */
export function lastWords({ stdout, stderr }: Record<'stdout' | 'stderr', Said>): Words {
  const end = ({ head, tail, binary }: Said): string => (binary ? '' : (head + tail).slice(-4096));
  return { said: `${end(stdout)}\n${end(stderr)}`, isSilent: !stderr.binary && end(stderr).trim() === '' };
}

type Said = Pick<KeptOutput, 'head' | 'tail' | 'binary'>;

/**
 * Which files the sandbox refused to a command. The kernel counts no such refusals, so the last words have to name them:
 * an error that nothing else in the sandbox gives, or the path of something that is hidden.
 * @param said the end of its output
 */
export function refusedFiles({ roots, guarded }: Confinement, said: string): readonly SandboxRefusal[] {
  const lines = said.split('\n').filter((line) => COVERED.test(line));
  const hidden = lines.length === 0 ? [] : guarded().hidden.map(({ path }) => basename(path));
  const ofHidden = lines.filter((line) => hidden.some((name) => namesFile(line, name)));
  const isWrite = READ_ONLY.test(said) || lines.some((line) => BUSY.test(line) && !ofHidden.includes(line));
  const isHidden = ofHidden.length > 0 || namesOutside(said, roots) || OUTSIDE_OF_GIT.test(said);
  return [...(isWrite ? ['write_outside' as const] : []), ...(isHidden ? ['hidden_file' as const] : [])];
}

/**
 * The same of a command that has thrown its errors away, by the paths that its text names: only what no command can read or
 * write.
 */
function refusedNames(
  { targets = [], sources = [], env = {} }: Request,
  { roots, guarded }: Confinement,
): readonly SandboxRefusal[] {
  const writable = [...roots, '/tmp', '/dev', ...(env.HOME === undefined ? [] : [env.HOME])];
  const isWrite = targets.some((path) => !writable.some((place) => isWithin(path, place)));
  const hidden = sources.length === 0 ? [] : guarded().hidden;
  const isHidden = sources.some((path) => hidden.some((entry) => isWithin(path, entry.path)));
  return [...(isWrite ? ['write_outside' as const] : []), ...(isHidden ? ['hidden_file' as const] : [])];
}

/** Only mounts of the sandbox are read-only. */
const READ_ONLY = /read-only file ?system|EROFS/i;

/** The same for replacing or removing a path that something is mounted on. */
const BUSY = /device or resource busy|EBUSY/i;

/** The same, what reading one says, and what git says about one that is no file. */
const COVERED =
  /device or resource busy|EBUSY|permission denied|EACCES|no such file|NoSuchFile|ENOENT|can only add regular files|unsupported file type|cannot hash/i;

/** Not as a part of another name: `.env` in `.env.example`. */
function namesFile(line: string, name: string): boolean {
  for (let at = line.indexOf(name); at !== -1; at = line.indexOf(name, at + 1)) {
    const before = line.slice(Math.max(0, at - 1), at);
    const after = line.slice(at + name.length);
    if (!/[\w.-]/.test(before) && !/^(?:[\w-]|\.\w)/.test(after)) return true;
  }
  return false;
}

/** Git, which has looked for its settings at home, for objects that it borrows, or for a repository elsewhere. */
const OUTSIDE_OF_GIT =
  /please tell me who you are|unable to normalize alternate object path|object directory \S+ does not exist|not a git repository: \S*\/\.git\//i;

const MISSING = /no such file|ENOENT|NoSuchFile/i;

const ABSOLUTE = /(?<![\w./:-])\/[^\s:;,'"‘’()]+/g;

/**
 * Whether the path is there on the machine is not for the command to know; that there is such a directory at the top of
 * the machine is no secret, and where there is none, nothing is kept from the command.
 */
function namesOutside(said: string, roots: readonly string[]): boolean {
  const shown = [...roots, ...SHOWN];
  const lines = said.split('\n').filter((line) => MISSING.test(line));
  return lines
    .flatMap((line) => line.match(ABSOLUTE) ?? [])
    .some((path) => {
      const [, top = ''] = path.split('/');
      return !shown.some((place) => isWithin(path, place)) && entryStat(`/${top}`) !== undefined;
    });
}

/** Where what is missing is missing. `/tmp` is another one for each command. */
const SHOWN = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/dev', '/proc'];
