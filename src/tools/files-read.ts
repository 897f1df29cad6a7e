import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { ConversationMemory, ToolContext } from '../contract/context.js';
import { ToolError } from '../errors/tool-error.js';

/** What a conversation knows of a file's content, for stale-file protection (D070, D071). */
export interface FileRecord {
  /** Of the whole content, lower-case hex; null: the conversation has deleted or moved the file. */
  readonly sha256: string | null;
  /** When it was read or written, milliseconds since the epoch; left out where the tool was given no clock. */
  readonly at?: number;
}

/** Under this key the memory of a conversation holds its `FilesRead`. */
export const FILES_READ = 'files-read';

/** The files that a conversation has read or written, by canonical path (D071). */
export class FilesRead extends Map<string, FileRecord> {
  /**
   * Takes in what other processes of the same conversation have read. Call it before a record decides about a change.
   * This one has nothing to ask: an executor gives a named conversation one that asks its journal.
   * @throws ToolError `journal_unavailable`
   */
  async refresh(): Promise<void> {}
}

export function filesRead(memory: ConversationMemory): FilesRead {
  const known = memory.get(FILES_READ);
  if (known instanceof FilesRead) return known;
  const fresh = new FilesRead();
  memory.set(FILES_READ, fresh);
  return fresh;
}

/** The path under which a file is remembered: links resolved where the files can tell. */
export function canonicalPath(ctx: ToolContext, path: string): string {
  return ctx.files.resolve?.(path) ?? resolve(ctx.cwd, path);
}

export function fileRecord(sha256: string | null, now: (() => number) | undefined): FileRecord {
  return now === undefined ? { sha256 } : { sha256, at: now() };
}

export function sha256Of(...parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

interface FoundFile {
  /** As the caller wrote it. */
  readonly path: string;
  readonly canonical: string;
  readonly sha256: string;
}

const UNREAD = 'File was not read before patching';
const CHANGED = 'File content changed since last read';

/**
 * Compares a file that is to be changed with what this conversation knows of it (D068, F023).
 * @param known refreshed, so that it has what other processes of the conversation have read
 * @throws ToolError `stale_file` when it is not what was read; where it must have been read, also when it was not
 */
export function assertFresh(
  { path, canonical, sha256 }: FoundFile,
  known: FilesRead,
  { action, mustBeRead }: { readonly action: string; readonly mustBeRead: boolean },
): void {
  const record = known.get(canonical);
  if (record === undefined ? !mustBeRead : record.sha256 === sha256) return;
  const reason = record === undefined ? UNREAD : CHANGED;
  const remedy =
    record === undefined ? 'Read it with read_file first.' : 'Read it again, then repeat the change.';
  throw new ToolError('stale_file', `Cannot ${action} ${path}: ${reason}. ${remedy}`, {
    details: { path, reason },
  });
}
