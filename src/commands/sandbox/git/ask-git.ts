import type { Confinement } from '../../../contract/processes.js';
import { askProgram } from '../../../platform/process/ask-program.js';
import { makeKeptDirectory } from '../../../platform/process/kept-directory.js';
import { readEnvironment } from '../../../platform/runtime/environment.js';
import { bubblewrapArguments } from '../bubblewrap-arguments.js';

/** The context in which git runs: its view of the roots, and the programs that provide it. */
export interface GitView {
  /** Bubblewrap's path. */
  readonly bubblewrap: string;
  /** A program before bubblewrap that prepares the mounts. If absent: none. */
  readonly before?: readonly string[];
  /** Arguments for bubblewrap: everything that git sees. */
  readonly mounts: readonly string[];
  /** The top of the working tree, as git sees it. */
  readonly top: string;
  /** Variables that lead git to its repository if the working tree does not. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The directory for the script's files: `in` from the caller, everything else for the caller. */
const PLACE = '/dev/toolexec/git';

/**
 * Runs a script that calls git, in a sandbox like that of commands and without a network: the settings of a
 * repository name programs (filters above all), and their input was written by others. The script finds its
 * directory in `$OUT`.
 * @param input files that the directory has at the start
 * @returns the directory; undefined if the script failed
 */
export async function askGit(
  { bubblewrap, before = [], mounts, top, env = {} }: GitView,
  script: string,
  input: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<string | undefined> {
  const place = makeKeptDirectory(input);
  if (place === undefined) return undefined;
  const { PATH = '', HOME = '/tmp' } = readEnvironment();
  const confinement: Pick<Confinement, 'roots' | 'readable' | 'network'> = {
    roots: [],
    readable: [],
    network: false,
  };
  const args = bubblewrapArguments({
    confinement,
    mounts: [...mounts, '--dir', top],
    empty: ['--tmpfs', '/tmp'],
    isInRoom: false,
    beyond: () => [],
    env: { PATH, HOME },
    cwd: top,
    first: ['--dir', '/dev/toolexec', '--bind', place, PLACE],
    program: ['/bin/sh', '-c', script],
  });
  const [file = bubblewrap, ...rest] = [...before, bubblewrap, ...args];
  const answer = await askProgram(file, rest, { ...ENVIRONMENT, PATH, OUT: PLACE, ...env });
  return answer.ok ? place : undefined;
}

/** Git fetches nothing, asks nothing, and starts no file watcher. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  HOME: '/tmp',
  LC_ALL: 'C.UTF-8',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_COUNT: '4',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'core.splitIndex',
  GIT_CONFIG_VALUE_1: 'false',
  GIT_CONFIG_KEY_2: 'core.hooksPath',
  GIT_CONFIG_VALUE_2: '/dev/null',
  GIT_CONFIG_KEY_3: 'safe.directory',
  GIT_CONFIG_VALUE_3: '*',
};
