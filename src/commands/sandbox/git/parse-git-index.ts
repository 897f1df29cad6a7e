/** What git's index says of a file. */
export interface IndexEntry {
  /** From the top of the working tree. */
  readonly path: string;
  readonly size: number;
  readonly modifiedSeconds: number;
  readonly isExecutable: boolean;
  /** It is not meant to be in the working tree. */
  readonly isSkipped?: true;
}

/**
 * The regular files that an index names, in its versions 2 to 4, as far as `isWanted`. Undefined where it cannot be
 * read, or names only what differs from another one.
 * @param hashBytes 20, or 32 in a repository of SHA-256
 */
export function parseGitIndex(
  bytes: Buffer,
  hashBytes: number,
  isWanted: (path: string) => boolean,
): readonly IndexEntry[] | undefined {
  try {
    const { entries, isWhole } = readEntries(bytes, hashBytes, (path, mode) => {
      return (mode & TYPE) === 0o100_000 && isWanted(path);
    });
    return isWhole ? entries : undefined;
  } catch (error) {
    // It ends too early.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The paths that it names as repositories of their own; of one that names only what differs from another, those. */
export function parseGitLinks(bytes: Buffer, hashBytes: number): readonly string[] {
  try {
    return readEntries(bytes, hashBytes, (_, mode) => (mode & TYPE) === 0o160_000).entries.map(
      ({ path }) => path,
    );
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

const TYPE = 0o170_000;
const HEADER_BYTES = 12;
const FLAG_EXTENDED = 0x4000;
const FLAG_STAGE = 0x3000;
/** Of those that come where the flags are extended. */
const FLAG_SKIPPED = 0x4000;

function readEntries(
  bytes: Buffer,
  hashBytes: number,
  isWanted: (path: string, mode: number) => boolean,
): { readonly entries: readonly IndexEntry[]; readonly isWhole: boolean } {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) {
    return { entries: [], isWhole: false };
  }
  const entries: IndexEntry[] = [];
  let at = HEADER_BYTES;
  let name: Buffer = Buffer.alloc(0);
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const flags = bytes.readUInt16BE(at + 40 + hashBytes);
    const isExtended = (flags & FLAG_EXTENDED) !== 0;
    const start = at + 42 + hashBytes + (isExtended ? 2 : 0);
    const named = version === 4 ? nextName(bytes, start, name) : plainName(bytes, start, at);
    name = named.name;
    const path = name.toString();
    const mode = bytes.readUInt32BE(at + 24);
    if ((flags & FLAG_STAGE) === 0 && isPlain(path) && isWanted(path, mode)) {
      const [modifiedSeconds, size] = [bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 36)];
      const entry = { path, size, modifiedSeconds, isExecutable: (mode & 0o100) !== 0 };
      const isSkipped = isExtended && (bytes.readUInt16BE(at + 42 + hashBytes) & FLAG_SKIPPED) !== 0;
      entries.push(isSkipped ? { ...entry, isSkipped } : entry);
    }
    at = named.next;
  }
  const isWhole = at <= bytes.length - hashBytes && !isSplit(bytes, at, hashBytes);
  return { entries, isWhole };
}

/** Any program can write an index; git itself takes no such names. */
function isPlain(path: string): boolean {
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

interface Named {
  readonly name: Buffer;
  readonly next: number;
}

/** Entries are padded with one to eight NULs to a multiple of eight. */
function plainName(bytes: Buffer, start: number, entry: number): Named {
  const end = endOf(bytes, start);
  return { name: bytes.subarray(start, end), next: entry + Math.ceil((end + 1 - entry) / 8) * 8 };
}

/** Version 4 says how much of the end of the name before is not in this one, and what comes instead. */
function nextName(bytes: Buffer, start: number, before: Buffer): Named {
  let at = start;
  let byte = bytes.readUInt8(at++);
  let dropped = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = bytes.readUInt8(at++);
    dropped = (dropped + 1) * 128 + (byte & 0x7f);
  }
  const end = endOf(bytes, at);
  const kept = before.subarray(0, Math.max(0, before.length - dropped));
  return { name: Buffer.concat([kept, bytes.subarray(at, end)]), next: end + 1 };
}

function endOf(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(0, start);
  if (end < 0) throw new RangeError('a name without an end');
  return end;
}

/** Extensions follow; `link` names another index that holds most of the entries. */
function isSplit(bytes: Buffer, start: number, hashBytes: number): boolean {
  for (let at = start; at + 8 <= bytes.length - hashBytes; at += 8 + bytes.readUInt32BE(at + 4)) {
    if (bytes.toString('latin1', at, at + 4) === 'link') return true;
  }
  return false;
}
