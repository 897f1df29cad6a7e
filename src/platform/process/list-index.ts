import { spawnSync } from 'node:child_process';
import { findTrustedProgram } from './find-program.js';

/**
 * The entries of a Git index (mode, object, stage, path, flags), without its cached times. Undefined if Git
 * is not installed or cannot read the index. Runs only Git itself: no hook, no file system monitor, no
 * settings of the user.
 * @param git the directory that holds `HEAD`. @param index like `git`, a path whose characters are bytes
 */
export function listIndex(git: string, index: string): Buffer | undefined {
  program ??= { git: findTrustedProgram('git') };
  if (program.git === undefined) return undefined;
  const { status, stdout } = spawnSync(
    program.git,
    ['-c', 'core.fsmonitor=false', '-c', 'core.untrackedCache=false', 'ls-files', '--stage', '-v', '-z'],
    {
      cwd: '/',
      env: {
        GIT_DIR: Buffer.from(git, 'latin1').toString(),
        GIT_INDEX_FILE: Buffer.from(index, 'latin1').toString(),
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_OPTIONAL_LOCKS: '0',
        HOME: '/nonexistent',
        LC_ALL: 'C',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: LIMIT_BYTES,
    },
  );
  return status === 0 ? stdout : undefined;
}

let program: { readonly git: string | undefined } | undefined;

const LIMIT_MS = 10_000;
const LIMIT_BYTES = 256 * 1024 * 1024;
