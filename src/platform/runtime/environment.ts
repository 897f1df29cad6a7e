import { arch, homedir, platform, release, tmpdir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** A copy of the process's environment: changing it changes nothing else. */
export function readEnvironment(): Record<string, string> {
  const copy: Record<string, string> = {};
  // Only the names are read here: asking whether each is enumerable would be one more native call per name.
  for (const name of Object.getOwnPropertyNames(process.env)) {
    const value = process.env[name];
    if (value !== undefined) copy[name] = value;
  }
  return copy;
}

/** The variable that sends the requests of other programs through a proxy. */
export function namedProxy(): string | undefined {
  return ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'].find(
    (name) => (process.env[name] ?? '') !== '',
  );
}

/** Windows ignores case in names of variables; other systems do not. */
export function environmentIgnoresCase(): boolean {
  return process.platform === 'win32';
}

/** Whether programs run command lines with a Unix shell. */
export function hasUnixShell(): boolean {
  return process.platform !== 'win32';
}

/** The directory in which programs keep data that must last. */
export function stateDirectory(): string {
  return stateHome(process.env);
}

/** The directory of the user's configuration. */
export function configDirectory(): string {
  return configHome(process.env);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The directory of the user's configuration: `$XDG_CONFIG_HOME`, else `~/.config`. */
export function configHome(env: Environment): string {
  return absolute(env.XDG_CONFIG_HOME) ?? join(homeOf(env), '.config');
}

/** The directory for data that must last: `$XDG_STATE_HOME`, else `~/.local/state`. */
export function stateHome(env: Environment): string {
  return absolute(env.XDG_STATE_HOME) ?? join(homeOf(env), '.local', 'state');
}

/** The directory for temporary data. */
export function temporaryHome(): string {
  return tmpdir();
}

/** The home directory that the environment names, or else the one that the system knows. */
export function homeOf(env: Environment): string {
  return absolute(env.HOME) ?? absolute(systemHome(homedir)) ?? absolute(systemHome(userHome)) ?? '/';
}

const userHome = (): string => userInfo().homedir;

/** `homedir` returns an empty HOME unchanged, and the system may not know the user. */
function systemHome(ask: () => string): string | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** The home directory of the user that runs this process. */
export function homeDirectory(): string {
  return homeOf(readEnvironment());
}

/** XDG: relative paths are ignored. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

/** The version of Node that runs this process, without the `v`. */
export const nodeVersion = (): string => process.versions.node;

/** For example `linux 6.18.5 x64`. */
export const systemName = (): string => `${platform()} ${release()} ${arch()}`;

/** Undefined if the system has no numeric user ids. */
export const userId = (): number | undefined => process.getuid?.();

/** The user id and the group id of this process; 0 if the system has none. */
export function ownIds(): { readonly uid: number; readonly gid: number } {
  return { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
}

/** Runs a step when this process exits, but not when it is killed. @returns call it to leave the step out */
export function whenProcessEnds(step: () => void): () => void {
  if (steps === undefined) {
    const known = new Set<() => void>();
    steps = known;
    // One listener, because Node warns of more than ten.
    process.once('exit', () => {
      for (const each of known) each();
    });
  }
  const own = steps.add(step);
  return () => own.delete(step);
}

let steps: Set<() => void> | undefined;

/** In Node's terms: `x64`, `arm64`. */
export const machineArchitecture = (): string => arch();
