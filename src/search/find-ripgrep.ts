import { ToolError } from '../errors/tool-error.js';
import { importInstalled } from '../platform/installed-package.js';
import { OLDEST, ripgrepOnPath } from './ripgrep-on-path.js';

/**
 * The ripgrep that came along as a package, else a new enough one on `PATH` from outside of the roots.
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
