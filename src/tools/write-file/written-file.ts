import type { ConversationMemory, ToolContext } from '../../contract/context.js';
import type { WriteMode } from '../../contract/files.js';
import { ToolError } from '../../errors/tool-error.js';
import { errnoOf } from '../errno-of.js';
import { canonicalPath, fileRecord, filesRead, sha256Of } from '../files-read.js';

/**
 * The present content of a file that this conversation knows; undefined when it knows nothing of it, or when it is
 * not needed.
 * @throws ToolError `stale_file` when the file is to be replaced and is not what was read (decision 23).
 */
export async function knownContent(
  path: string,
  mode: WriteMode,
  ctx: ToolContext,
): Promise<Uint8Array | undefined> {
  if (mode === 'create') return undefined;
  const record = filesRead(ctx.memory).get(canonicalPath(ctx, path));
  if (record === undefined) return undefined;
  const bytes = await readIfThere(path, ctx);
  if (bytes === undefined || sha256Of(bytes) === record.sha256) return bytes;
  if (mode === 'append') return undefined;
  throw new ToolError(
    'stale_file',
    `Cannot overwrite ${path}: File content changed since last read. Read it again, then repeat the change.`,
    { details: { path } },
  );
}

/** The file was removed since: then there is nothing that could be lost. */
async function readIfThere(path: string, ctx: ToolContext): Promise<Uint8Array | undefined> {
  try {
    return await ctx.files.read(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export interface WrittenFile {
  /** Canonical. */
  readonly path: string;
  readonly created: boolean;
  readonly mode: WriteMode;
  readonly bytes: Uint8Array;
  /** What was there before, where it is known. */
  readonly before: Uint8Array | undefined;
}

/** After our own write the record holds the new content, so that a following change is not stale (decision 18). */
export function rememberWrite(
  file: WrittenFile,
  memory: ConversationMemory,
  now: (() => number) | undefined,
): void {
  const sha256 = hashAfter(file);
  if (sha256 !== undefined) filesRead(memory).set(file.path, fileRecord(sha256, now));
}

function hashAfter(file: WrittenFile): string | undefined {
  if (file.mode !== 'append' || file.created) return sha256Of(file.bytes);
  // Appending to what was not read teaches nothing about the whole: the record stays as it is.
  return file.before === undefined ? undefined : sha256Of(file.before, file.bytes);
}
