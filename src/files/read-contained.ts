import type { DirectoryEntry, FileStat, PlacedBytes, ReadOptions } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { closeDescriptor, readBytes } from '../platform/fs/fs-bytes.js';
import { directoryEntries, type EntryStat, entryStat, entryType } from '../platform/fs/fs-entry.js';
import { admit, type Enclosure } from './enclosure.js';
import { fileSystemError, withFailures } from './file-failure.js';
import { type HeldTarget, holdPlace, holdTarget } from './hold.js';
import type { PathRequest } from './parse-request.js';

/** A regular file's bytes, and the canonical path of what was open when they were read. */
export function readContained(enclosure: Enclosure, asked: string, options: ReadOptions): PlacedBytes {
  const offset = assertBytes('offset', options.offset) ?? 0;
  const length = assertBytes('length', options.length);
  const request = admit(enclosure, asked, 'read');
  return withFailures('read', asked, () => {
    const held = holdTarget(enclosure, request);
    try {
      assertIsFile(asked, held);
      const descriptor = held.pin.openForReading();
      try {
        const bytes = readBytes(descriptor, { offset, length, size: held.stat.size });
        return { path: held.path, bytes };
      } finally {
        closeDescriptor(descriptor);
      }
    } finally {
      held.pin.close();
    }
  });
}

/** Names that a pattern denies are left out, as if they were not there (D102). */
export function listContained(enclosure: Enclosure, asked: string): readonly DirectoryEntry[] {
  const request = admit(enclosure, asked, 'read');
  return withFailures('list', asked, () => {
    const held = holdDirectory(enclosure, request);
    try {
      const isDenied = deniedIn(enclosure, request, held);
      return directoryEntries(held.pin.at).filter(({ name }) => !isDenied(name));
    } finally {
      held.pin.close();
    }
  });
}

/** Each entry itself, one after the other in the same held directory; undefined for what cannot be told of. */
export function statEntriesContained(
  enclosure: Enclosure,
  asked: string,
  names: readonly string[],
): readonly (FileStat | undefined)[] {
  const request = admit(enclosure, asked, 'read');
  return withFailures('list', asked, () => {
    const held = holdDirectory(enclosure, request);
    try {
      const isDenied = deniedIn(enclosure, request, held);
      return names.map((name) =>
        isSingleName(name) && !isDenied(name) ? statIn(held.pin.at, name) : undefined,
      );
    } finally {
      held.pin.close();
    }
  });
}

function holdDirectory(enclosure: Enclosure, request: PathRequest): HeldTarget {
  const held = holdTarget(enclosure, request);
  if (held.stat.isDirectory()) return held;
  held.pin.close();
  throw fileSystemError('ENOTDIR');
}

function deniedIn({ denies }: Enclosure, { path }: PathRequest, held: HeldTarget): (name: string) => boolean {
  const isDeniedThere = denies.deniedEntries(held.path);
  if (held.path === path) return isDeniedThere;
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

/** The entry itself: a link where the last part is one. */
export function statContained(enclosure: Enclosure, asked: string): FileStat {
  const request = admit(enclosure, asked, 'read');
  return withFailures('look at', asked, () => {
    const { place, entry } = holdPlace(enclosure, request, {
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

function assertIsFile(asked: string, held: HeldTarget): void {
  if (held.stat.isFile()) return;
  if (held.stat.isDirectory()) throw fileSystemError('EISDIR');
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
