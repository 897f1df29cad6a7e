import { ToolError } from '../errors/tool-error.js';
import type { FilesRead } from './files-read.js';

interface FoundFile {
  /** As the caller wrote it. */
  readonly path: string;
  readonly canonical: string;
  readonly sha256: string;
}

export const UNREAD = 'File was not read before patching';
export const CHANGED = 'File content changed since last read';

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
