/**
 * The paths that an index (versions 2 to 4) names as repositories. @param hashBytes 20, or 32 in a repository
 * with SHA-256
 */
export function parseGitLinks(bytes: Buffer, hashBytes: number): readonly string[] {
  try {
    return readLinks(bytes, hashBytes);
  } catch (error) {
    // The file ends too early.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

const TYPE = 0o170_000;
const LINK = 0o160_000;
const HEADER_BYTES = 12;
const FLAG_EXTENDED = 0x4000;
const FLAG_STAGE = 0x3000;

function readLinks(bytes: Buffer, hashBytes: number): readonly string[] {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return [];
  const links: string[] = [];
  let at = HEADER_BYTES;
  let name: Buffer = Buffer.alloc(0);
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const flags = bytes.readUInt16BE(at + 40 + hashBytes);
    const start = at + 42 + hashBytes + ((flags & FLAG_EXTENDED) === 0 ? 0 : 2);
    const named = version === 4 ? nextName(bytes, start, name) : plainName(bytes, start, at);
    name = named.name;
    const isLink = (bytes.readUInt32BE(at + 24) & TYPE) === LINK && (flags & FLAG_STAGE) === 0;
    const path = name.toString();
    if (isLink && isPlain(path)) links.push(path);
    at = named.next;
  }
  return links;
}

/** Any program can write an index; git itself does not accept such names. */
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

/**
 * Version 4 gives the number of bytes to remove from the end of the previous name, and the text that replaces
 * them.
 */
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
