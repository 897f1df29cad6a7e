import type { ConversationMemory, ToolContext } from '../../contract/context.js';
import type { WriteMode } from '../../contract/files.js';
import { canonicalPath, fileRecord, filesRead, sha256Of } from '../files-read.js';
import { readIfThere } from '../read-if-there.js';
import { assertFresh } from '../stale-file.js';

/** What is there before a write, of a file that this conversation knows. */
export interface KnownContent {
  /** Undefined: the file was removed since, and there is nothing that could be lost. */
  readonly bytes: Uint8Array | undefined;
  /** Null where there is no file. */
  readonly sha256: string | null;
}

/**
 * The present content of a file that this conversation knows; undefined when it knows nothing of it, or when it is
 * not needed.
 * @throws ToolError `stale_file` when the file is to be replaced and is not what was read (F023).
 */
export async function knownContent(
  path: string,
  mode: WriteMode,
  ctx: ToolContext,
): Promise<KnownContent | undefined> {
  if (mode === 'create') return undefined;
  const canonical = canonicalPath(ctx, path);
  const known = filesRead(ctx.memory);
  await known.refresh();
  const record = known.get(canonical);
  if (record === undefined) return undefined;
  const bytes = await readIfThere(path, ctx.files);
  if (bytes === undefined) return { bytes, sha256: null };
  const sha256 = sha256Of(bytes);
  if (sha256 !== record.sha256 && mode === 'append') return undefined;
  assertFresh({ path, canonical, sha256 }, known, { action: 'overwrite', mustBeRead: false });
  return { bytes, sha256 };
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

/** After our own write the record holds the new content, so that a following change is not stale (F018). */
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
