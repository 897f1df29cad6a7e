import type { WriteMode, WriteOutcome } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { syncDirectory, writeNewFile } from '../platform/fs-bytes.js';
import {
  assertWritable,
  type EntryStat,
  entryStat,
  moveEntry,
  moveToFreeName,
} from '../platform/fs-entry.js';
import { DirectoryBusy, DirectoryLocks, removeIfThere, temporaryName } from './directory-locks.js';
import { admit, type Enclosure } from './enclosure.js';
import { fileSystemError, withFailures } from './file-failure.js';
import { copyHeld } from './held-content.js';
import { type HeldPlace, holdPlace } from './hold.js';
import type { PathRequest } from './parse-request.js';

/** Most file systems' limit for one name, in bytes. */
const MAX_NAME_BYTES = 255;

/**
 * Puts bytes into a file so that a crash leaves the old or the new content: a temporary file beside it, synced,
 * then renamed, all in one held directory.
 * @throws DirectoryBusy when another process is replacing files there, or has changed what is appended to
 */
export function writeContained(
  enclosure: Enclosure,
  asked: string,
  bytes: Uint8Array,
  mode: WriteMode,
  abandonedLock?: string,
): WriteOutcome {
  if (!(bytes instanceof Uint8Array)) throw badWrite('the content is not bytes (Uint8Array)');
  if (mode !== 'create' && mode !== 'overwrite' && mode !== 'append') {
    throw badWrite(`the mode ${JSON.stringify(mode)} is none of "create", "overwrite", "append"`);
  }
  const request = admit(enclosure, asked, 'write');
  return withFailures('write', asked, () => {
    assertNamesFit(request);
    const held = holdPlace(enclosure, request, { access: 'write', followLast: true, createParents: true });
    try {
      assertMayWrite(asked, held, mode);
      replaceContent(enclosure, held, { bytes, mode, abandonedLock });
      return { path: held.place.path, created: held.entry === undefined, bytesWritten: bytes.length };
    } finally {
      held.place.parent.close();
    }
  });
}

interface Replacement {
  readonly bytes: Uint8Array;
  readonly mode: WriteMode;
  readonly abandonedLock: string | undefined;
}

// Before anything is made: a name that cannot be would leave its new parents behind.
export function assertNamesFit(request: PathRequest): void {
  const isTooLong = (name: string) =>
    name.length * 3 > MAX_NAME_BYTES && Buffer.byteLength(name) > MAX_NAME_BYTES;
  if (request.components.some(isTooLong)) throw fileSystemError('ENAMETOOLONG');
}

export function assertMayWrite(asked: string, { place, at, entry }: HeldPlace, mode: WriteMode): void {
  if (place.isDangling) {
    throw new ToolError(
      'execution_failed',
      `Cannot write ${JSON.stringify(asked)}: a link on its way leads to nothing. Write to ${JSON.stringify(place.path)} itself.`,
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
  // A link here was put in place after the path was followed.
  if (entry.isFile()) return;
  throw new ToolError('execution_failed', `path is not a regular file: ${asked}`, {
    details: { path: asked },
  });
}

function replaceContent(
  enclosure: Enclosure,
  held: HeldPlace,
  { bytes, mode, abandonedLock }: Replacement,
): void {
  const { place, at, entry } = held;
  const temporary = `${place.parent.at}/${temporaryName()}`;
  const locks = new DirectoryLocks(abandonedLock);
  try {
    if (entry !== undefined && mode === 'append') copyHeld(enclosure, at, temporary, bytes);
    else writeNewFile(temporary, bytes, entry === undefined ? {} : { like: entry });
    if (entry === undefined && mode !== 'overwrite') {
      moveToFreeName(temporary, at);
    } else {
      locks.take(place.parent);
      if (entry !== undefined && mode === 'append') assertSame(entry, at);
      moveEntry(temporary, at);
    }
  } catch (error) {
    removeIfThere(temporary);
    throw error;
  } finally {
    locks.release();
  }
  syncDirectory(place.parent.at);
}

/** What was put there since it was copied must not be lost: then it is copied again. */
function assertSame(entry: EntryStat, at: string): void {
  const now = entryStat(at);
  const isSame =
    now?.ino === entry.ino &&
    now.dev === entry.dev &&
    now.size === entry.size &&
    now.mtimeMs === entry.mtimeMs &&
    now.ctimeMs === entry.ctimeMs;
  if (!isSame) throw new DirectoryBusy(`${now?.ino}:${now?.ctimeMs}`);
}

export function badWrite(why: string): ToolError {
  return new ToolError('bad_args', `Cannot write: ${why}.`);
}
