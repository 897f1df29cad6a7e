import type { ExaminedEntry, RestoredFile, RestoreOptions } from '../contract/files.js';
import { isToolError } from '../errors/tool-error.js';
import { entryNames, errnoOf, isWritable, linkText } from '../platform/fs/fs-entry.js';
import { admit, type Containment } from './containment.js';
import { hashEntry } from './entry-content.js';
import { withFailures } from './file-failure.js';
import { sha256 } from './intended-change.js';
import { makeDirectories, removeEmpty } from './make-directories.js';
import { type OpenPlace, openPlace } from './open-place.js';
import { writeAllContained } from './write-all-contained.js';

/**
 * Restores files, all or none. First missing directories are created, then every content is staged and
 * synced, then the files are replaced, and finally empty directories are removed.
 * @throws DirectoryBusy as `writeAllContained` does
 */
export async function restoreContained(
  containment: Containment,
  files: readonly RestoredFile[],
  abandonedLock: string | undefined,
  { intend, make = [], tidy = [] }: RestoreOptions,
): Promise<readonly string[]> {
  const removed = tidy.flatMap((path) => {
    const entry = examineDirectory(containment, path);
    return entry?.kind === 'dir' ? [{ path, mode: entry.mode }] : [];
  });
  const made = makeDirectories(containment, make);
  try {
    const outcomes = await writeAllContained(containment, files, abandonedLock, {
      check: () => {},
      kind: 'restore',
      directories: { made, removed },
      ...(intend === undefined ? {} : { intend }),
    });
    removeEmpty(containment, tidy);
    return outcomes.map(({ path }) => path);
  } catch (error) {
    removeEmpty(containment, made);
    throw error;
  }
}

/** Examines a canonical path without following links. */
export function examineContained(containment: Containment, path: string): ExaminedEntry {
  const request = admit(containment, path, 'write');
  return withFailures('look at', path, () => {
    let opened: OpenPlace;
    try {
      opened = openPlace(containment, request, ENTRY_ITSELF);
    } catch (error) {
      if (errnoOf(error) === 'ENOTDIR') return { kind: 'elsewhere' };
      throw error;
    }
    try {
      return opened.place.path === request.path ? examineEntry(containment, opened) : { kind: 'elsewhere' };
    } finally {
      opened.place.parent.close();
    }
  });
}

const ENTRY_ITSELF = { access: 'write', followLast: false, createParents: false } as const;

function examineEntry(containment: Containment, { at, place, entry }: OpenPlace): ExaminedEntry {
  if (entry === undefined || place.missing.length > 0) return { kind: 'none' };
  const mode = entry.mode & 0o7777;
  if (entry.isDirectory()) return { kind: 'dir', mode, names: entryNames(at) };
  if (entry.isSymbolicLink()) return { kind: 'link', sha256: sha256(linkText(at) ?? '') };
  if (!entry.isFile()) return { kind: 'other' };
  return {
    kind: 'file',
    sha256: hashEntry(containment, at),
    size: entry.size,
    mode,
    writable: isWritable(at),
  };
}

function examineDirectory(containment: Containment, path: string): ExaminedEntry | undefined {
  try {
    return examineContained(containment, path);
  } catch (error) {
    if (isToolError(error)) return undefined;
    throw error;
  }
}
