import { ToolError } from '../errors/tool-error.js';
import { findProgram } from '../platform/find-program.js';
import { spawnReader } from '../platform/spawn-reader.js';

/** What is asked of it is there since then. */
const OLDEST = [13, 0] as const;

let found: Promise<string> | undefined;

/**
 * The ripgrep that came along as a package, else a new enough one on `PATH`.
 * Undefined: the signal was aborted first.
 * @throws ToolError `execution_failed` that says what to install; looked for anew the next time
 */
export async function findRipgrep(signal: AbortSignal): Promise<string | undefined> {
  found ??= locate();
  try {
    const file = await found;
    return signal.aborted ? undefined : file;
  } catch (error) {
    found = undefined;
    throw error;
  }
}

async function locate(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch (cause) {
    for (const file of findProgram('rg')) if (await isNewEnough(file)) return file;
    throw new ToolError(
      'execution_failed',
      'Cannot search: there is no ripgrep for this machine. Install the package @vscode/ripgrep with its optional ' +
        `dependencies, or a ripgrep from ${OLDEST[0]}.${OLDEST[1]} on as rg on the PATH.`,
      { cause },
    );
  }
}

async function isNewEnough(file: string): Promise<boolean> {
  try {
    const reader = spawnReader({ file, args: ['--no-config', '--version'], cwd: '/', inherit: [] });
    let said = '';
    reader.stdout.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('latin1')).slice(0, 200);
    });
    await reader.ended;
    const [, major, minor] = /^ripgrep (\d+)\.(\d+)/.exec(said) ?? [];
    const [oldestMajor, oldestMinor] = OLDEST;
    return Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor);
  } catch {
    return false;
  }
}
