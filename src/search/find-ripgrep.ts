import { sep } from 'node:path';
import { ToolError } from '../errors/tool-error.js';
import { findProgram } from '../platform/process/find-program.js';
import { spawnReader } from '../platform/process/spawn-reader.js';
import { importInstalled } from '../platform/runtime/installed-package.js';

/** The first version with all options that we use. */
const OLDEST = [13, 0] as const;

/**
 * The ripgrep from the package, otherwise a sufficiently new one on `PATH` from outside the roots.
 * @throws ToolError `execution_failed` that says what to install; the next call looks again
 */
export async function findRipgrep(roots: readonly string[]): Promise<string> {
  try {
    return ((await importInstalled('@vscode/ripgrep')) as typeof import('@vscode/ripgrep')).rgPath;
  } catch (cause) {
    const file = await ripgrepOnPath(roots);
    if (file !== undefined) return file;
    throw new ToolError(
      'execution_failed',
      'Cannot search: there is no search program on this machine. Use list_directory and read_file.',
      {
        cause,
        hint:
          'Install the package @vscode/ripgrep with its optional dependencies, or ripgrep ' +
          `${OLDEST.join('.')} or newer as rg on the PATH.`,
      },
    );
  }
}

/** The first sufficiently new one. A program inside a root belongs to the project and is not run. */
export async function ripgrepOnPath(roots: readonly string[]): Promise<string | undefined> {
  for (const file of findProgram('rg')) {
    const isInside = roots.some((root) => file.startsWith(root.endsWith(sep) ? root : root + sep));
    if (!isInside && (await isNewEnough(file))) return file;
  }
  return undefined;
}

const verdicts = new Map<string, Promise<boolean>>();

function isNewEnough(file: string): Promise<boolean> {
  const known = verdicts.get(file) ?? askVersion(file);
  verdicts.set(file, known);
  return known;
}

async function askVersion(file: string): Promise<boolean> {
  try {
    const reader = spawnReader({ file, args: ['--no-config', '--version'], cwd: '/', inherit: [] });
    let said = '';
    reader.stdout.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('latin1')).slice(0, 200);
    });
    await reader.ended;
    const [, major, minor] = (/^ripgrep (\d+)\.(\d+)/.exec(said) ?? []).map(Number);
    if (major === undefined || minor === undefined) return false;
    return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  } catch {
    return false;
  }
}
