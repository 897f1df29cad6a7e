import type { JsonObject } from '../../contract/json.js';
import { sha256Of } from '../files-read.js';
import type { OpenFile } from './open-files.js';

export interface ChangedFile {
  readonly file: OpenFile;
  /** Undefined where there is no file. */
  readonly now: Uint8Array | undefined;
  readonly status: 'created' | 'modified' | 'deleted' | 'moved' | 'unchanged';
  /** Of the content now; null where there is no file. */
  readonly sha256: string | null;
}

/** What has become of the files, in the order in which the patch names them; files that never were are left out. */
export function compareFiles(files: Iterable<OpenFile>): ChangedFile[] {
  return [...new Set(files)].flatMap((file) => {
    const now = file.draft.bytes();
    if (now === undefined && file.before === undefined) return [];
    const sha256 = now === undefined ? null : now === file.before ? file.sha256 : sha256Of(now);
    return [{ file, now, status: sha256 === file.sha256 ? 'unchanged' : statusOf(file), sha256 }];
  });
}

function statusOf({ before, draft, movedFrom }: OpenFile): ChangedFile['status'] {
  if (!draft.exists) return 'deleted';
  if (before !== undefined) return 'modified';
  return movedFrom?.before !== undefined && !movedFrom.draft.exists ? 'moved' : 'created';
}

/** A line for each file (D066): `modified: path`, `created: path`, `deleted: path`, `moved: from -> to`. */
export function reportChanges(changes: readonly ChangedFile[]): string {
  const moved = new Set(changes.flatMap(({ file, status }) => (status === 'moved' ? [file.movedFrom] : [])));
  const lines = changes
    .filter(({ file, status }) => status !== 'unchanged' && !(status === 'deleted' && moved.has(file)))
    .map(({ file, status }) =>
      status === 'moved' ? `moved: ${file.movedFrom?.path} -> ${file.path}` : `${status}: ${file.path}`,
    );
  return lines.length === 0 ? 'No changes applied.' : lines.join('\n');
}

export function describeChanges(changes: readonly ChangedFile[]): JsonObject[] {
  return changes.map(({ file, status, sha256 }) => ({
    ...{ path: file.path, status, sha256_before: file.sha256, sha256_after: sha256 },
    ...(status === 'moved' ? { moved_from: file.movedFrom?.path ?? '' } : {}),
  }));
}
