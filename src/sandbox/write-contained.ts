import { randomBytes } from 'node:crypto';
import type { WriteMode, WriteOutcome } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { closeDescriptor, syncDirectory, writeNewFile } from '../platform/fs-bytes.js';
import {
  assertWritable,
  type EntryStat,
  moveEntry,
  moveToFreeName,
  removeEntry,
} from '../platform/fs-entry.js';
import { admit, type Enclosure } from './enclosure.js';
import { fileSystemError, withFailures } from './file-failure.js';
import { type HeldPlace, holdPlace } from './hold.js';
import type { PathRequest } from './parse-request.js';

/** Most file systems' limit for one name, in bytes. */
const MAX_NAME_BYTES = 255;

/**
 * Puts bytes into a file so that a crash leaves the old or the new content: a temporary file beside it, synced,
 * then renamed, all in one held directory.
 */
export function writeContained(
  enclosure: Enclosure,
  asked: string,
  bytes: Uint8Array,
  mode: WriteMode,
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
      replaceContent(enclosure, held, bytes, mode);
      return { path: held.place.path, created: held.entry === undefined, bytesWritten: bytes.length };
    } finally {
      held.place.parent.close();
    }
  });
}

// Before anything is made: a name that cannot be would leave its new parents behind.
function assertNamesFit(request: PathRequest): void {
  const isTooLong = (name: string) =>
    name.length * 3 > MAX_NAME_BYTES && Buffer.byteLength(name) > MAX_NAME_BYTES;
  if (request.components.some(isTooLong)) throw fileSystemError('ENAMETOOLONG');
}

function assertMayWrite(asked: string, { place, at, entry }: HeldPlace, mode: WriteMode): void {
  if (place.isDangling) {
    throw new ToolError(
      'execution_failed',
      `Cannot write ${JSON.stringify(asked)}: a link on its way leads to nothing. Write to ${JSON.stringify(place.path)} itself.`,
      { details: { errno: 'ENOENT', path: asked } },
    );
  }
  if (entry === undefined) return;
  if (entry.isDirectory()) throw fileSystemError('EISDIR');
  // A link here was put in place after the path was followed.
  if (!entry.isFile()) {
    throw new ToolError('execution_failed', `path is not a regular file: ${asked}`, {
      details: { path: asked },
    });
  }
  if (mode === 'create') throw fileSystemError('EEXIST');
  assertWritable(at);
}

function replaceContent(enclosure: Enclosure, held: HeldPlace, bytes: Uint8Array, mode: WriteMode): void {
  const { place, at, entry } = held;
  const temporary = `${place.parent.at}/.toolexec-${randomBytes(8).toString('hex')}.tmp`;
  if (entry === undefined) {
    writeNewFile(temporary, bytes, {});
  } else if (mode === 'append') {
    writeExtended(enclosure, at, temporary, bytes, entry);
  } else {
    writeNewFile(temporary, bytes, { like: entry });
  }
  try {
    if (entry === undefined && mode !== 'overwrite') moveToFreeName(temporary, at);
    else moveEntry(temporary, at);
  } catch (error) {
    removeEntry(temporary);
    throw error;
  }
  syncDirectory(place.parent.at);
}

function writeExtended(
  enclosure: Enclosure,
  at: string,
  temporary: string,
  bytes: Uint8Array,
  entry: EntryStat,
): void {
  const pin = enclosure.pinner.pin(at);
  try {
    if (!pin.stat().isFile()) throw fileSystemError('EAGAIN');
    const prefix = pin.openForReading();
    try {
      writeNewFile(temporary, bytes, { like: entry, prefix });
    } finally {
      closeDescriptor(prefix);
    }
  } finally {
    pin.close();
  }
}

function badWrite(why: string): ToolError {
  return new ToolError('bad_args', `Cannot write: ${why}.`);
}
