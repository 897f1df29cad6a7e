import { arch, homedir, platform, release, tmpdir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** A copy of the process's environment: changing it changes nothing outside. */
export function readEnvironment(): Record<string, string> {
  const copy: Record<string, string> = {};
  // Asked for its names alone: whether one is shown is another call out of JavaScript for each.
  for (const name of Object.getOwnPropertyNames(process.env)) {
    const value = process.env[name];
    if (value !== undefined) copy[name] = value;
  }
  return copy;
}

/** Windows looks names up without regard to case; other systems do not (D120). */
export function environmentIgnoresCase(): boolean {
  return process.platform === 'win32';
}

/** Where programs keep what must survive them. */
export function stateDirectory(): string {
  return stateHome(process.env);
}

/** Where programs keep what the person has configured. */
export function configDirectory(): string {
  return configHome(process.env);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where programs keep what the person has configured: `$XDG_CONFIG_HOME`, else `~/.config`. */
export function configHome(env: Environment): string {
  return absolute(env.XDG_CONFIG_HOME) ?? join(homeOf(env), '.config');
}

/** Where programs keep what must survive them: `$XDG_STATE_HOME`, else `~/.local/state`. */
export function stateHome(env: Environment): string {
  return absolute(env.XDG_STATE_HOME) ?? join(homeOf(env), '.local', 'state');
}

/** Where programs keep what is not needed for long. */
export function temporaryHome(): string {
  return tmpdir();
}

/** The home directory that an environment names, or that the system knows. */
export function homeOf(env: Environment): string {
  return absolute(env.HOME) ?? absolute(systemHome(homedir)) ?? absolute(systemHome(userHome)) ?? '/';
}

const userHome = (): string => userInfo().homedir;

/** An empty HOME is what `homedir` gives as well, and the system may know no such user. */
function systemHome(ask: () => string): string | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Of the user that runs this. */
export function homeDirectory(): string {
  return homeOf(readEnvironment());
}

/** XDG: what is relative is ignored. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

/** The Node that runs this, without the `v`. */
export const nodeVersion = (): string => process.versions.node;

/** Such as `linux 6.18.5 x64`. */
export const systemName = (): string => `${platform()} ${release()} ${arch()}`;

/** Undefined where users have no numbers. */
export const userId = (): number | undefined => process.getuid?.();

/** Of the user and the group that this process acts as; 0 where the system has none. */
export function ownIds(): { readonly uid: number; readonly gid: number } {
  return { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
}

/** What is done when this process ends by itself; not when it is killed. */
export function whenProcessEnds(step: () => void): void {
  process.once('exit', step);
}

/** As Node names it: `x64`, `arm64`. */
export const machineArchitecture = (): string => arch();
