import type { ToolContext } from '../../contract/context.js';
import type { FileStat } from '../../contract/files.js';
import { ToolError } from '../../errors/tool-error.js';
import { errnoOf } from '../errno-of.js';

/** A failed write in the words a model can act on; refusals of the sandbox as they are. */
export async function writeErrorFor(path: string, error: unknown, ctx: ToolContext): Promise<unknown> {
  const errno = errnoOf(error);
  if (errno === undefined || !(error instanceof ToolError) || error.details.changed === true) return error;
  // The reason alone does not tell a target that exists from a parent that is a file.
  const found = errno === 'EEXIST' || errno === 'EISDIR' ? await typeOf(path, ctx) : undefined;
  const message = found === undefined ? `failed to write ${path}: ${error.message}` : MESSAGES[found](path);
  return new ToolError('execution_failed', message, { cause: error, details: { errno } });
}

const exists = (path: string): string =>
  `file already exists: ${path}. Use mode "overwrite" to replace it, or "append" to add to it.`;

const MESSAGES: Readonly<Record<FileStat['type'], (path: string) => string>> = {
  file: exists,
  symlink: (path) => `failed to write ${path}: it is a symbolic link that leads nowhere it may be written.`,
  dir: (path) => `failed to write ${path}: it is a directory. Name a file.`,
  other: (path) => `failed to write ${path}: it is no regular file.`,
};

async function typeOf(path: string, ctx: ToolContext): Promise<FileStat['type'] | undefined> {
  try {
    return (await ctx.files.stat(path)).type;
  } catch {
    return undefined;
  }
}
