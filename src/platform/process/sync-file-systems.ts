import { spawn, spawnSync } from 'node:child_process';
import { findTrustedProgram } from './find-program.js';

/*
 * Flushes everything written on a file system to the disk. Node has no function for this, so the program `sync` makes
 * the system call.
 */

/**
 * Flushes the file systems of these paths to the disk. Resolves with the reason for a failure; undefined if everything
 * is on the disk. Never rejects.
 */
export function syncFileSystems(paths: readonly string[]): Promise<string | undefined> {
  const program = findSync();
  if (program === undefined) return Promise.resolve(MISSING);
  return new Promise((resolve) => {
    // In a new session: a signal from the terminal must not end it.
    const child = spawn(program, argumentsFor(paths), { ...OPTIONS, detached: true });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.once('error', (error) => resolve(refusalOf(said, error)));
    child.once('close', (code) => resolve(code === 0 ? undefined : refusalOf(said)));
  });
}

/** The same, but blocks this process. */
export function syncFileSystemsNow(paths: readonly string[]): string | undefined {
  const program = findSync();
  if (program === undefined) return MISSING;
  const { error, status, stderr } = spawnSync(program, argumentsFor(paths), { ...OPTIONS, encoding: 'utf8' });
  return error === undefined && status === 0 ? undefined : refusalOf(stderr ?? '', error);
}

export function canSyncFileSystems(): boolean {
  return findSync() !== undefined;
}

const OPTIONS = {
  env: {},
  argv0: 'sync',
  stdio: ['ignore', 'ignore', 'pipe'] as ['ignore', 'ignore', 'pipe'],
};
const MISSING = 'sync (coreutils) is not installed';

/** From a line like `sync: error syncing '/place': Input/output error`. */
function refusalOf(stderr: string, error?: Error): string {
  const why = /: ([^:]+)$/.exec(stderr.trim())?.[1] ?? error?.message ?? 'sync failed';
  return `the disk did not confirm it: ${why}`;
}

function argumentsFor(paths: readonly string[]): string[] {
  return ['-f', '--', ...paths];
}

let found: { readonly program: string | undefined } | undefined;

function findSync(): string | undefined {
  found ??= { program: findTrustedProgram('sync') };
  return found.program;
}
