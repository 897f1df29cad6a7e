import type { ChangeOptions, WriteMode, WriteOutcome } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { stageNewFile, writeNewFile } from '../platform/fs/fs-bytes.js';
import {
  assertWritable,
  type EntryStat,
  entryStat,
  errnoOf,
  moveEntry,
  moveToFreeName,
} from '../platform/fs/fs-entry.js';
import { admit, type Containment } from './containment.js';
import { DirectoryBusy, DirectoryLocks, removeIfThere } from './directory-locks.js';
import { copyEntry, hashEntry } from './entry-content.js';
import { fileSystemError, syncChange, withFailures, withLaterFailures } from './file-failure.js';
import { assertAsSeen, madeFor, modeOfNew, type SeenChange, seeChange, sha256 } from './intended-change.js';
import { removeEmpty } from './make-directories.js';
import { makeWay, missingDirectories } from './make-way.js';
import { type OpenPlace, openPlace } from './open-place.js';
import { namesDirectory, type PathRequest } from './parse-request.js';
import { temporaryName } from './temporary-name.js';

/** Most file systems' limit for one name, in bytes. */
const MAX_NAME_BYTES = 255;

/**
 * Writes a file so that a crash leaves the old or the new content: a temporary file next to it is synced and
 * then renamed, all in one open directory.
 * @throws DirectoryBusy if another process is replacing files there, or has changed the file to append to
 */
export async function writeContained(
  containment: Containment,
  asked: string,
  { bytes, mode, abandonedLock, intend, check }: Replacement,
): Promise<WriteOutcome> {
  if (!(bytes instanceof Uint8Array)) throw badWrite('the content is not bytes (Uint8Array)');
  if (mode !== 'create' && mode !== 'overwrite' && mode !== 'append') {
    throw badWrite(`the mode ${JSON.stringify(mode)} is not one of "create", "overwrite", "append"`);
  }
  const request = admit(containment, asked, 'write');
  const step = <Value>(action: () => Value): Value => withFailures('write', asked, action);
  step(() => assertNamesFit(request));
  const opened = step(() =>
    openPlace(containment, request, { access: 'write', followLast: true, createParents: false }),
  );
  let target = opened;
  try {
    step(() => assertMayWrite(asked, opened, mode));
    // Next to the file, or in the deepest existing directory on its way.
    const temporary = `${opened.place.parent.at}/${temporaryName()}`;
    let created: boolean;
    try {
      await withLaterFailures('write', asked, () => stage(containment, opened, temporary, { bytes, mode }));
      let seen: SeenChange | undefined;
      if (intend !== undefined) {
        seen = step(() =>
          seeChange(containment, opened, afterHash(containment, opened, temporary, { bytes, mode })),
        );
        const change = opened.entry === undefined ? { ...seen.change, ...modeOfNew(temporary) } : seen.change;
        await intend({ op: 'write', changes: [change], ...madeFor([opened]) });
      }
      check?.();
      target = step(() => placeFor(containment, request, opened));
      created = step(() => putInPlace(target, temporary, { mode, abandonedLock, seen }));
    } catch (error) {
      removeIfThere(temporary);
      removeEmpty(containment, missingDirectories(opened.place));
      throw error;
    }
    await syncChange(asked, [target.place.parent, ...(target === opened ? [] : [opened.place.parent])]);
    return { path: opened.place.path, created, bytesWritten: bytes.length };
  } finally {
    if (target !== opened) target.place.parent.close();
    opened.place.parent.close();
  }
}

function placeFor(containment: Containment, request: PathRequest, opened: OpenPlace): OpenPlace {
  return opened.place.missing.length === 0 ? opened : makeWay(containment, request, opened, true);
}

export interface Replacement extends ChangeOptions {
  readonly bytes: Uint8Array;
  readonly mode: WriteMode;
  /** A lock that its holder has abandoned. */
  readonly abandonedLock?: string | undefined;
}

type NewContent = Pick<Replacement, 'bytes' | 'mode'>;

/** Writes the whole new content next to its place. */
async function stage(
  containment: Containment,
  { at, entry }: OpenPlace,
  temporary: string,
  { bytes, mode }: NewContent,
): Promise<void> {
  // The file must not change while it is copied: other writers of this process wait for the sync.
  if (mode === 'append' && entry !== undefined) copyEntry(containment, at, temporary, bytes);
  else if (mode === 'append') writeNewFile(temporary, bytes, {});
  else await stageNewFile(temporary, bytes, entry === undefined ? {} : { like: entry });
}

function afterHash(
  containment: Containment,
  { entry }: OpenPlace,
  temporary: string,
  { bytes, mode }: NewContent,
): string {
  return entry !== undefined && mode === 'append' ? hashEntry(containment, temporary) : sha256(bytes);
}

// Before anything is created: an impossible name would leave new parent directories behind.
export function assertNamesFit(request: PathRequest): void {
  const isTooLong = (name: string) =>
    name.length * 3 > MAX_NAME_BYTES && Buffer.byteLength(name) > MAX_NAME_BYTES;
  if (request.components.some(isTooLong)) throw fileSystemError('ENAMETOOLONG');
}

export function assertMayWrite(asked: string, { place, at, entry }: OpenPlace, mode: WriteMode): void {
  if (entry === undefined && namesDirectory(asked)) throw fileSystemError('EISDIR');
  if (place.isDangling) {
    throw new ToolError(
      'execution_failed',
      `Cannot write ${JSON.stringify(asked)}: a link in its path leads to nothing. Write to ${JSON.stringify(place.path)} itself.`,
      { details: { errno: 'ENOENT', path: asked } },
    );
  }
  if (entry === undefined) return;
  assertRegular(asked, entry);
  if (mode === 'create') throw fileSystemError('EEXIST');
  assertWritable(at);
}

export function assertRegular(asked: string, entry: EntryStat): void {
  if (entry.isDirectory()) throw fileSystemError('EISDIR');
  // A link here was created after the path was followed.
  if (entry.isFile()) return;
  throw new ToolError('execution_failed', `path is not a regular file: ${asked}`, {
    details: { path: asked },
  });
}

interface Step {
  readonly mode: WriteMode;
  readonly abandonedLock: string | undefined;
  /** The entry that the intent announced; undefined if no intent was recorded. */
  readonly seen: SeenChange | undefined;
}

/** @returns whether there was no file before */
function putInPlace({ place, at, entry }: OpenPlace, temporary: string, step: Step): boolean {
  const { mode, abandonedLock, seen } = step;
  const locks = new DirectoryLocks(abandonedLock);
  try {
    if (entry === undefined && mode === 'append') {
      beFirst(temporary, at);
      return true;
    }
    if (entry === undefined && mode === 'create') {
      moveToFreeName(temporary, at);
      return true;
    }
    locks.take(place.parent);
    // Content that was added since the copy must not be lost: it is copied again.
    if (entry !== undefined && mode === 'append') assertAsSeen(entry, at);
    if (seen !== undefined) assertAsSeen(seen.entry, at);
    // Another writer may have created it since it was examined.
    const isThere = seen === undefined ? entryStat(at) !== undefined : seen.entry !== undefined;
    moveEntry(temporary, at);
    return !isThere;
  } finally {
    locks.release();
  }
}

/** @throws DirectoryBusy if another writer has created the file meanwhile: its content comes first */
function beFirst(temporary: string, at: string): void {
  try {
    moveToFreeName(temporary, at);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    const { ino, ctimeMs } = entryStat(at) ?? {};
    throw new DirectoryBusy(`${ino}:${ctimeMs}`);
  }
}

export function badWrite(why: string): ToolError {
  return new ToolError('bad_args', `Cannot write: ${why}.`);
}
