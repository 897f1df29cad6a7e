import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { ConversationMemory, ToolContext } from '../contract/context.js';
import { ToolError } from '../errors/tool-error.js';

/** The content of a file as the conversation last saw it, for stale-file protection (D070, D071). */
export interface FileRecord {
  /** Hash of the whole content, in lower-case hex; null if the conversation deleted or moved the file. */
  readonly sha256: string | null;
  /** When it was read or written, in milliseconds since the epoch; left out if the tool has no clock. */
  readonly at?: number;
}

/** The key of `FilesRead` in a conversation's memory. */
export const FILES_READ = 'files-read';

/** The files that a conversation has read or written, by canonical path (D071). */
export class FilesRead extends Map<string, FileRecord> {
  /**
   * Adds the reads of other processes in the same conversation. Call it before a record decides about a
   * change. Does nothing here; an executor with a named conversation uses a subclass that reads its journal.
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

/** The path under which a file is remembered, with links resolved if possible. */
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
  /** The caller's spelling. */
  readonly path: string;
  readonly canonical: string;
  readonly sha256: string;
}

const UNREAD = 'File was not read before patching';
const CHANGED = 'File content changed since last read';

/**
 * Compares a file before a change with this conversation's record of it (D068, F023).
 * @param known refreshed, so that it includes reads of other processes
 * @throws ToolError `stale_file` if the file has changed since the read, or was not read although that is
 * required
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
