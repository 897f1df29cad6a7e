import type { DirectoryEntry, FileStat, PlacedBytes, ReadOptions } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { closeDescriptor, readBytes } from '../platform/fs/fs-bytes.js';
import { directoryEntries, type EntryStat, entryStat, entryType } from '../platform/fs/fs-entry.js';
import { admit, type Containment } from './containment.js';
import { fileSystemError, withFailures } from './file-failure.js';
import { type OpenTarget, openPlace, openTarget } from './open-place.js';
import type { PathRequest } from './parse-request.js';

/** Reads a regular file, and returns the canonical path of the file that was open. */
export function readContained(containment: Containment, asked: string, options: ReadOptions): PlacedBytes {
  if (typeof options !== 'object' || options === null) throw badOptions();
  const offset = assertBytes('offset', options.offset) ?? 0;
  const length = assertBytes('length', options.length);
  const request = admit(containment, asked, 'read');
  return withFailures('read', asked, () => {
    const opened = openTarget(containment, request);
    try {
      assertIsFile(asked, opened);
      const descriptor = opened.handle.openForReading();
      try {
        const bytes = readBytes(descriptor, { offset, length, size: opened.stat.size });
        return { path: opened.path, bytes };
      } finally {
        closeDescriptor(descriptor);
      }
    } finally {
      opened.handle.close();
    }
  });
}

function badOptions(): ToolError {
  return new ToolError('bad_args', 'Cannot read: the options are an object, { offset?, length? }.');
}

/** Names that a pattern denies are left out, as if they did not exist (D102). */
export function listContained(containment: Containment, asked: string): readonly DirectoryEntry[] {
  const request = admit(containment, asked, 'read');
  return withFailures('list', asked, () => {
    const opened = openContainedDirectory(containment, request);
    try {
      const isDenied = deniedIn(containment, request, opened);
      return directoryEntries(opened.handle.at).filter(({ name }) => !isDenied(name));
    } finally {
      opened.handle.close();
    }
  });
}

/** Examines each entry in the same open directory; undefined for an entry that cannot be examined. */
export function statEntriesContained(
  containment: Containment,
  asked: string,
  names: readonly string[],
): readonly (FileStat | undefined)[] {
  const request = admit(containment, asked, 'read');
  return withFailures('list', asked, () => {
    const opened = openContainedDirectory(containment, request);
    try {
      const isDenied = deniedIn(containment, request, opened);
      return names.map((name) =>
        isSingleName(name) && !isDenied(name) ? statIn(opened.handle.at, name) : undefined,
      );
    } finally {
      opened.handle.close();
    }
  });
}

function openContainedDirectory(containment: Containment, request: PathRequest): OpenTarget {
  const opened = openTarget(containment, request);
  if (opened.stat.isDirectory()) return opened;
  opened.handle.close();
  throw fileSystemError('ENOTDIR');
}

function deniedIn(
  { denies }: Containment,
  { path }: PathRequest,
  opened: OpenTarget,
): (name: string) => boolean {
  const isDeniedThere = denies.deniedEntries(opened.path);
  if (opened.path === path) return isDeniedThere;
  const isDeniedAsAsked = denies.deniedEntries(path);
  return (name) => isDeniedThere(name) || isDeniedAsAsked(name);
}

function isSingleName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

function statIn(directory: string, name: string): FileStat | undefined {
  try {
    const entry = entryStat(`${directory}/${name}`);
    return entry === undefined ? undefined : toFileStat(entry);
  } catch {
    return undefined;
  }
}

/** Examines the entry itself: the last component is not followed if it is a link. */
export function statContained(containment: Containment, asked: string): FileStat {
  const request = admit(containment, asked, 'read');
  return withFailures('look at', asked, () => {
    const { place, entry } = openPlace(containment, request, {
      access: 'read',
      followLast: false,
      createParents: false,
    });
    place.parent.close();
    if (entry === undefined) throw fileSystemError('ENOENT');
    return toFileStat(entry);
  });
}

function toFileStat(entry: EntryStat): FileStat {
  return { type: entryType(entry), size: entry.size, modifiedMs: entry.mtimeMs };
}

function assertIsFile(asked: string, opened: OpenTarget): void {
  if (opened.stat.isFile()) return;
  if (opened.stat.isDirectory()) throw fileSystemError('EISDIR');
  throw new ToolError('execution_failed', `path is not a regular file: ${asked}`, {
    details: { path: asked },
  });
}

function assertBytes(name: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return value;
  throw new ToolError(
    'bad_args',
    `Cannot read: ${name} is ${value}. Give a whole number of bytes, 0 or more.`,
  );
}
