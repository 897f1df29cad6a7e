import { basename, resolve } from 'node:path';
import type {
  CommandLimits,
  CommandRequest,
  CommandSandbox,
  Confinement,
  KeptOutput,
  LimitHit,
  SandboxRefusal,
} from '../contract/processes.js';
import { findLimitHit } from './command-limits.js';
import { refusedPaths } from './refused-paths.js';

interface Told {
  readonly sandbox?: CommandSandbox;
  readonly limit?: LimitHit;
}

interface Ended extends Told {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly aborted: boolean;
  /** According to the kernel. */
  readonly refused?: readonly SandboxRefusal[];
}

/** Explains a failed command, if the sandbox or a limit caused the failure. */
export function explainEnd(request: Request, end: Ended, words: Words): Told {
  if (end.exitCode === 0) return {};
  const limit = end.aborted
    ? undefined
    : (end.limit ?? findLimitHit(request.limits ?? {}, end, `${words.output}\n${words.errors}`));
  const refused = refusalsOf(request, end, words);
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(refused.length === 0 || end.sandbox === undefined ? {} : { sandbox: { ...end.sandbox, refused } }),
  };
}

interface Request extends Partial<Pick<CommandRequest, 'targets' | 'sources' | 'command' | 'cwd' | 'env'>> {
  readonly confinement?: Confinement | undefined;
  readonly limits?: CommandLimits;
}

/** The last output of a command. */
interface Words {
  readonly output: string;
  readonly errors: string;
}

export function lastWords({ stdout, stderr }: Record<'stdout' | 'stderr', Said>): Words {
  const end = ({ head, tail, binary }: Said): string => (binary ? '' : (head + tail).slice(-4096));
  return { output: end(stdout), errors: end(stderr) };
}

type Said = Pick<KeptOutput, 'head' | 'tail' | 'binary'>;

function refusalsOf(request: Request, end: Ended, { output, errors }: Words): readonly SandboxRefusal[] {
  const { confinement } = request;
  const isSandboxed = confinement !== undefined && end.sandbox !== undefined && end.sandbox.kind !== 'none';
  const measured = end.refused ?? [];
  if (!isSandboxed || end.aborted) return measured;
  const said = MERGES.test(request.command ?? '') ? `${output}\n${errors}` : errors;
  const found = [...new Set([...measured, ...refusedFiles(request, confinement, said)])];
  const isSilent = errors.trim() === '' && found.length === 0;
  return isSilent ? refusedNames(request, confinement) : found;
}

/** Errors are redirected to the output. */
const MERGES = />\s*&\s*1|&>|\|&/;

/**
 * The files that the sandbox refused to a command. The kernel does not count such refusals. So an error at
 * the end of its output counts if it names a path that the sandbox really refuses, and if it is not part of
 * the command's own text.
 * @param said the end of its errors
 */
export function refusedFiles(
  { command = '', cwd, env = {}, targets = [] }: Request,
  confinement: Confinement,
  said: string,
): readonly SandboxRefusal[] {
  const { roots } = confinement;
  const [start = '/'] = cwd === undefined ? roots : [cwd];
  const bases = [start, ...enteredDirectories(command, start)];
  const lines = said.split('\n').filter((line) => !WARNING.test(line));
  const paths = refusedPaths(confinement, env);
  const names = (phrase: RegExp, isRefused: (path: string) => boolean): boolean =>
    lines.some(
      (line) =>
        phrase.test(line) &&
        !isQuoted(line, phrase, command) &&
        tokensOf(line).some((token) => bases.some((base) => isRefused(resolve(base, token)))),
    );
  // In a directory that is not visible, creating a file fails like reading one.
  const isUnmade = (path: string): boolean => targets.includes(path) && paths.isReadOnly(path);
  const isWrite =
    names(READ_ONLY, paths.isReadOnly) || names(UNCHANGEABLE, paths.isGuarded) || names(MISSING, isUnmade);
  const isHidden =
    names(COVERED, paths.isHidden) || names(READ_ONLY, paths.isHidden) || names(MISSING, paths.isOutside);
  return [...(isWrite ? ['write_outside' as const] : []), ...(isHidden ? ['hidden_file' as const] : [])];
}

/**
 * For a command that discards its errors: the paths that its text certainly uses, if no command can read or
 * write them.
 */
function refusedNames(
  { targets = [], sources = [], env = {}, command = '' }: Request,
  confinement: Confinement,
): readonly SandboxRefusal[] {
  const paths = refusedPaths(confinement, env);
  const [always = ''] = command.replace(FIRST_ENTERED, '').split(CONDITIONS);
  const isNamed = (path: string): boolean => always.includes(basename(path));
  const isWrite = targets.some((path) => isNamed(path) && paths.isReadOnly(path));
  const isHidden = sources.some((path) => isNamed(path) && (paths.isHidden(path) || paths.isOutside(path)));
  return [...(isWrite ? ['write_outside' as const] : []), ...(isHidden ? ['hidden_file' as const] : [])];
}

const FIRST_ENTERED = /^\s*cd\s+[^\s;&|]+\s*&&/;

/** The following commands may not have run. */
const CONDITIONS = /&&|\|\||\b(?:if|case|for|while|until|select|function)\b|[{}]/;

/** Relative names may refer to these directories. */
function enteredDirectories(command: string, start: string): readonly string[] {
  const places: string[] = [];
  for (const [, quoted, plain = ''] of command.matchAll(ENTERS)) {
    places.push(resolve(places.at(-1) ?? start, quoted ?? plain));
  }
  return places;
}

const ENTERS = /(?:^|[;&|(\s])cd\s+(?:--\s+)?(?:["']([^"']+)["']|([^\s;&|"')]+))/g;

/** The error is part of the command's text, so the command printed it: `echo "x: Read-only file system"`. */
function isQuoted(line: string, phrase: RegExp, command: string): boolean {
  const { 0: words = '', index = 0 } = phrase.exec(line) ?? {};
  const upTo = line.slice(0, index + words.length).trim();
  const from = line.slice(index).trim();
  return [upTo, from].some((part) => part.length > words.length && command.includes(part));
}

/** Possible paths: text in quotes, or between blanks. */
function tokensOf(line: string): readonly string[] {
  return [...line.matchAll(TOKEN)].flatMap(([all, ...quoted]) => {
    const token = quoted.find((each) => each !== undefined) ?? all.replace(EDGES, '');
    return token === '' ? [] : [token];
  });
}

const TOKEN = /'([^']+)'|"([^"]+)"|‘([^’]+)’|[^\s'"‘’=]+/g;
const EDGES = /^[(:;,[`]+|[)\]:;,`.]+$/g;

/** `apt-get` and others continue after it. */
const WARNING = /^\s*(?:W:|warn)/i;

/** Only mounts of the sandbox are read-only. */
const READ_ONLY = /read-only file ?system|EROFS/i;

/** The error for replacing or removing a mount point. */
const BUSY = /device or resource busy|EBUSY/i;

const UNCHANGEABLE = new RegExp(`${READ_ONLY.source}|${BUSY.source}`, 'i');

const MISSING =
  /no such file|NoSuchFile|ENOENT|not found|does not exist|not a git repository|unable to normalize/i;

/** The errors for reading a hidden file, and git's errors about one that is not a file. */
const COVERED = new RegExp(
  `${MISSING.source}|${BUSY.source}|permission denied|EACCES|can only add regular files|unsupported file type|cannot hash`,
  'i',
);
