import type { ToolContext } from '../../contract/context.js';
import type { DirectoryEntry, FileStat } from '../../contract/files.js';
import { errnoOf } from '../errno-of.js';
import { throwIfAborted } from '../yield-to-loop.js';
import type { EntryErrorCode, ListEntry } from './list-entry.js';

interface Found {
  readonly child: DirectoryEntry;
  readonly path: string;
  readonly depth: number;
}

/** An entry with its size and time. */
export function describeEntry({ child, path, depth }: Found, stat: FileStat): ListEntry {
  return {
    name: child.name,
    path,
    depth,
    type: stat.type,
    size_bytes: stat.type === 'file' ? stat.size : null,
    modified_epoch_ms: modifiedEpochMs(stat),
    is_hidden: child.name.startsWith('.'),
    error_code: null,
    error: null,
  };
}

/** The same of an entry that was not looked at yet; of type `unknown` with the reason where the file system does not tell. */
export async function examineEntry(found: Found, location: string, ctx: ToolContext): Promise<ListEntry> {
  try {
    return describeEntry(found, await ctx.files.stat(location));
  } catch (error) {
    throwIfAborted(ctx);
    const { child, path, depth } = found;
    return {
      name: child.name,
      path,
      depth,
      type: 'unknown',
      size_bytes: null,
      modified_epoch_ms: null,
      is_hidden: child.name.startsWith('.'),
      error_code: statErrorCode(error),
      error: reasonOf(error),
    };
  }
}

/** A directory whose own entry could be examined, but not its content. */
export function unreadableDirectory(directory: ListEntry, error: unknown): ListEntry {
  return { ...directory, type: 'unknown', error_code: 'read_dir_failed', error: reasonOf(error) };
}

/** Whole milliseconds; a millisecond that floating point made a hair too small is still that millisecond. */
function modifiedEpochMs({ modifiedMs }: FileStat): number | null {
  return Number.isFinite(modifiedMs) ? Math.floor(modifiedMs + 0.001) : null;
}

function statErrorCode(error: unknown): EntryErrorCode {
  const errno = errnoOf(error);
  if (errno === 'EACCES' || errno === 'EPERM') return 'permission_denied';
  if (errno === 'EIO') return 'io_error';
  return 'metadata_unavailable';
}

function reasonOf(error: unknown): string {
  return errnoOf(error) ?? (error instanceof Error ? error.message : String(error));
}
