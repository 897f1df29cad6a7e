import type { FileChange, RestoredFile } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import type { NewFileOptions } from '../platform/fs/fs-bytes.js';
import type { EntryStat } from '../platform/fs/fs-entry.js';
import type { Containment } from './containment.js';
import { type OpenPlace, openPlace } from './open-place.js';
import type { PathRequest } from './parse-request.js';
import { assertMayWrite, assertRegular } from './write-contained.js';

/** A change that a caller requests, or a file to restore. */
export type StagedChange = FileChange & Partial<RestoredFile>;

/**
 * How places are reached: `restore` follows no link, sets every bit, and keeps a backup of every replaced
 * file.
 */
export type WriteKind = 'write' | 'restore';

/** Opens the place of a change. No directory is created yet. */
export function openChange(
  containment: Containment,
  request: PathRequest,
  change: StagedChange,
  kind: WriteKind,
): OpenPlace {
  const { path } = change;
  const followLast = followsLast(change, kind);
  const opened = openPlace(containment, request, { access: 'write', followLast, createParents: false });
  if (kind === 'write' || opened.place.path === request.path) return opened;
  opened.place.parent.close();
  throw stale(path, 'a directory in its path has become a link');
}

/** Whether a link at the end of its path is followed. */
export function followsLast({ bytes }: StagedChange, kind: WriteKind): boolean {
  return kind === 'write' && bytes !== null;
}

export function assertMayChange(change: StagedChange, opened: OpenPlace, kind: WriteKind): void {
  const { path, bytes, expectedSha256 } = change;
  if (kind === 'restore') {
    // Its permission bits are checked during planning.
    if (opened.entry?.isFile() === false) throw stale(path, 'something else lies there');
  } else if (bytes !== null) {
    assertMayWrite(path, opened, 'overwrite');
  } else if (opened.entry !== undefined) {
    assertRegular(path, opened.entry);
  }
  if (opened.entry === undefined && (bytes === null || typeof expectedSha256 === 'string')) {
    throw stale(path, 'it is gone');
  }
  if (opened.entry !== undefined && expectedSha256 === null) throw stale(path, 'there is a file now');
}

/** Mode and owner of a new content, as requested by the caller. */
export function asAsked({ mode }: StagedChange, model: EntryStat | undefined): NewFileOptions {
  return {
    ...(model === undefined ? {} : { like: model }),
    ...(mode === undefined ? {} : { mode }),
  };
}

/** Mode and owner of a restored file. */
export function asItWas(
  { mode, expectedMode, owner }: StagedChange,
  model: EntryStat | undefined,
): NewFileOptions {
  const now = model === undefined ? undefined : model.mode & 0o7777;
  const isAsLeft = now === undefined || expectedMode === undefined || now === expectedMode;
  const bits = isAsLeft ? (mode ?? now) : now;
  const owned = owner ?? model;
  if (bits === undefined) return {};
  return {
    exact: { mode: bits, ...(owned === undefined ? {} : { owner: { uid: owned.uid, gid: owned.gid } }) },
  };
}

export function stale(path: string, what?: string): ToolError {
  const reason = 'File content changed since last read';
  const why = what === undefined ? reason : `${reason}: ${what}`;
  return new ToolError(
    'stale_file',
    `Cannot write ${JSON.stringify(path)}: ${why}. Read it again, then repeat the change.`,
    { details: { path, reason } },
  );
}
