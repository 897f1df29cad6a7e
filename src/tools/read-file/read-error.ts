import type { ToolContext } from '../../contract/context.js';
import { ToolError } from '../../errors/tool-error.js';
import { errnoOf } from '../errno-of.js';

/** A failed read in the words a model can act on; other errors as they are. */
export async function readErrorFor(path: string, error: unknown, ctx: ToolContext): Promise<unknown> {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const details = { errno };
  if (errno === 'ENOENT' || errno === 'ENOTDIR') {
    return new ToolError('execution_failed', `file not found: ${path}`, { cause: error, details });
  }
  if (errno === 'EISDIR' || (await isDirectory(path, ctx))) {
    return new ToolError(
      'execution_failed',
      `path is a directory, not a file: ${path}. List it with list_directory.`,
      { cause: error, details },
    );
  }
  return error;
}

async function isDirectory(path: string, ctx: ToolContext): Promise<boolean> {
  try {
    return (await ctx.files.stat(path)).type === 'dir';
  } catch {
    return false;
  }
}
