/** What an entry that could not be examined is blamed on. */
export type EntryErrorCode =
  | 'metadata_unavailable'
  | 'permission_denied'
  | 'read_dir_failed'
  | 'io_error'
  | 'unknown';

/** One entry as the model reads it; the order of the keys is part of the format. */
export interface ListEntry {
  readonly name: string;
  /** Relative to the listed directory, `/` between names. */
  readonly path: string;
  /** Children of the listed directory are 1. */
  readonly depth: number;
  readonly type: 'file' | 'dir' | 'symlink' | 'other' | 'unknown';
  readonly size_bytes: number | null;
  readonly modified_epoch_ms: number | null;
  readonly is_hidden: boolean;
  readonly error_code: EntryErrorCode | null;
  readonly error: string | null;
}
