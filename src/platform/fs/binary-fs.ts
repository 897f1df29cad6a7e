import {
  appendFileSync,
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { giveTo } from './fs-bytes.js';
import { errnoOf } from './fs-entry.js';

/**
 * A path whose characters are its bytes (0 to 255): a name on Linux need not be UTF-8, and must survive
 * splitting, storing and joining.
 */
export type BinaryPath = string;

export function toBinary(text: string): BinaryPath {
  if (IS_ASCII.test(text)) return text;
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** The path as text; bytes that are not UTF-8 become `\xNN`. */
export function toText(path: BinaryPath): string {
  if (IS_ASCII.test(path)) return path;
  const text = Buffer.from(path, 'latin1').toString('utf8');
  if (!text.includes('\ufffd') || toBinary(text) === path) return text;
  return path.replace(BEYOND_ASCII, (byte) =>
    byte.length === 1 ? `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}` : plain(byte),
  );
}

/** Most paths: the same as bytes and as text. */
const IS_ASCII = /^[\0-\x7f]*$/;

/** A well-formed UTF-8 sequence, or any other byte above 127. */
export const BEYOND_ASCII =
  /[\xc2-\xdf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;

function plain(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

export type BinaryKind = 'file' | 'dir' | 'link' | 'whiteout' | 'special';

export interface BinaryEntry {
  readonly kind: BinaryKind;
  readonly ino: string;
  readonly dev: string;
  readonly size: number;
  /** Permission bits, with set-user-ID, set-group-ID and the sticky bit. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  /** When it was created; 0 on a file system that does not record it. */
  readonly bornNs: bigint;
  /** Disk usage. */
  readonly bytes: number;
  /** The number of its names. */
  readonly links: number;
}

/** The entry at a path; a link is not followed. Undefined if there is none. */
export function binaryEntry(path: BinaryPath): BinaryEntry | undefined {
  let stat: BigIntStats | undefined;
  try {
    stat = lstatSync(raw(path), { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
  return stat === undefined ? undefined : entryOf(stat);
}

function entryOf(stat: BigIntStats): BinaryEntry {
  const mode = Number(stat.mode);
  return {
    kind: kindOf(mode & constants.S_IFMT, stat),
    ino: `${stat.ino}`,
    dev: `${stat.dev}`,
    size: Number(stat.size),
    mode: mode & 0o7777,
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
    bornNs: stat.birthtimeNs,
    bytes: Number(stat.blocks) * 512,
    links: Number(stat.nlink),
  };
}

function kindOf(type: number, { rdev }: BigIntStats): BinaryKind {
  if (type === constants.S_IFREG) return 'file';
  if (type === constants.S_IFDIR) return 'dir';
  if (type === constants.S_IFLNK) return 'link';
  return type === constants.S_IFCHR && rdev === 0n ? 'whiteout' : 'special';
}

export function binaryNames(path: BinaryPath): BinaryPath[] {
  return readdirSync(raw(path), 'latin1');
}

/** The names in a directory. Empty if it cannot be read, or no longer exists. */
export function readableNames(path: BinaryPath): readonly BinaryPath[] {
  try {
    return binaryNames(path);
  } catch {
    return [];
  }
}

/** Empty for a pipe that has replaced the file; it does not wait. */
export function readBinaryFile(path: BinaryPath): Buffer {
  const descriptor = openSync(raw(path), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The target of a link, unresolved. */
export function readBinaryLink(path: BinaryPath): BinaryPath {
  return readlinkSync(raw(path), 'latin1');
}

export function rewriteBinaryFile(path: BinaryPath, bytes: string): void {
  writeFileSync(raw(path), Buffer.from(bytes, 'latin1'));
}

export function appendBinary(path: BinaryPath, text: string): void {
  appendFileSync(raw(path), text, { mode: 0o600 });
}

/** Throws `EEXIST` if an entry exists. */
export function writeNewBinary(path: BinaryPath, bytes: string): void {
  writeFileSync(raw(path), Buffer.from(bytes, 'latin1'), { flag: 'wx', mode: 0o644 });
}

/** Throws `EEXIST` if an entry exists. @param target unresolved */
export function makeBinaryLink(target: BinaryPath, path: BinaryPath): void {
  symlinkSync(raw(target), raw(path));
}

/** The access time of a link or file, if the file system records it. Throws if there is none. */
export function readTimeMs(path: BinaryPath): number {
  return lstatSync(raw(path)).atimeMs;
}

/** @param readMs the new access time */
export function setLinkReadTime(path: BinaryPath, readMs: number): void {
  lutimesSync(raw(path), readMs / 1000, lstatSync(raw(path)).mtimeMs / 1000);
}

/** Throws `EEXIST` if an entry exists. */
export function makeBinaryDirectory(path: BinaryPath, mode = 0o777): void {
  mkdirSync(raw(path), mode);
}

export function removeBinaryDirectory(path: BinaryPath): void {
  rmdirSync(raw(path));
}

export function removeBinary(path: BinaryPath): void {
  unlinkSync(raw(path));
}

export function renameBinary(from: BinaryPath, to: BinaryPath): void {
  renameSync(raw(from), raw(to));
}

/**
 * Whether entries move between two directories by rename: both lie on one device, and on one mount. Two
 * mounts may show the same device.
 */
export function canRename(from: BinaryPath, to: BinaryPath): boolean {
  const [one, other] = [binaryEntry(from), binaryEntry(to)];
  if (one === undefined || one.dev !== other?.dev) return false;
  const mount = mountOf(from);
  return mount !== undefined && mount === mountOf(to);
}

function mountOf(directory: BinaryPath): string | undefined {
  const held = open(directory);
  if (held === undefined) return undefined;
  try {
    const { fd } = held;
    return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
  } finally {
    held.close();
  }
}

/** Creates a hard link; for a link, to the link itself. */
export function linkBinary(from: BinaryPath, to: BinaryPath): void {
  linkSync(raw(from), raw(to));
}

export function setBinaryMode(path: BinaryPath, mode: number): void {
  chmodSync(raw(path), mode);
}

/**
 * Copies a file or link with content, mode, time and, if we may set it, a file's owner. Throws `EEXIST` if an entry
 * exists. The time is up to two microseconds later, because Node uses a floating-point number: never earlier, because
 * `make` would build a copy again that is older than its source. Pipes, sockets and devices cannot be copied; a pipe
 * that has just replaced the file does not block.
 */
export function copyBinary(from: BinaryPath, to: BinaryPath): void {
  const stat = lstatSync(raw(from), { bigint: true });
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(raw(from), 'buffer'), raw(to));
  else copyFile(from, to);
  lutimesSync(raw(to), Number(stat.atimeNs) / 1e9, secondsFrom(stat.mtimeNs));
}

/** Half a microsecond more than the whole ones: Node 22 and older cut the rest off, and the number is not exact. */
function secondsFrom(ns: bigint): number {
  return (Number((ns + 999n) / 1000n) + 0.5) / 1e6;
}

function copyFile(from: BinaryPath, to: BinaryPath): void {
  const descriptor = openSync(raw(from), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new Error('it is a pipe, a socket or a device, which cannot be copied');
    const opened = `/proc/self/fd/${descriptor}`;
    copyFileSync(opened, raw(to), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    giveLike(stat, to);
  } finally {
    closeSync(descriptor);
  }
}

/** Set-user-ID grants the owner's rights, so it is set only with the original owner. */
function giveLike(original: Stats, copy: BinaryPath): void {
  const descriptor = openSync(raw(copy), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    fchmodSync(descriptor, original.mode & (giveTo(descriptor, original) ? 0o7777 : 0o1777));
  } finally {
    closeSync(descriptor);
  }
}

/** Brings a file with its content and name to the disk; for a link its name. */
export function syncBinary(path: BinaryPath): void {
  const isFile = lstatSync(raw(path)).isFile();
  const how = constants.O_RDONLY | constants.O_NONBLOCK | (isFile ? constants.O_NOFOLLOW : 0);
  const descriptor = openSync(raw(isFile ? path : dirOf(path)), how);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Creates a small file and returns its time: later changes on the file system are not older. */
export function writeMarker(path: string): bigint {
  writeFileSync(path, '');
  return lstatSync(path, { bigint: true }).ctimeNs;
}

/** Completely on disk, or absent. */
export function writeDurably(path: string, text: string): void {
  const file = stageFile(path, [text]);
  file.sync();
  file.publish();
  syncNameOf(path);
}

/** A file that has its content, and not yet its name. */
export interface StagedFile {
  sync(): void;
  /** Gives it its name. */
  publish(): void;
}

/** @param parts of its text; short ones, because memory for a long one is new and slow */
export function stageFile(path: string, parts: Iterable<string>): StagedFile {
  const temporary = `${path}.new`;
  const descriptor = openSync(temporary, 'w', 0o600);
  try {
    for (const part of parts) appendFileSync(descriptor, part);
  } finally {
    closeSync(descriptor);
  }
  return {
    sync: () => syncFile(temporary),
    publish: () => renameSync(temporary, path),
  };
}

/** Makes the names in a file's directory durable. */
export function syncNameOf(path: string): void {
  syncFile(dirOf(path));
}

function dirOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** An open directory: `at` leads to it even if its name is taken. */
export interface HeldDirectory {
  readonly at: BinaryPath;
  /** Opens a subdirectory; undefined if the entry is not a directory, or is a link. */
  enter(name: BinaryPath): HeldDirectory | undefined;
  close(): void;
}

/** Opens the directory at a canonical path; undefined if there is none, or a link is on the way. */
export function holdDirectory(path: string): HeldDirectory | undefined {
  const held = open(toBinary(path));
  if (held === undefined) return undefined;
  if (readlinkSync(raw(held.at), 'latin1') === toBinary(path)) return held;
  held.close();
  return undefined;
}

function open(path: BinaryPath): (HeldDirectory & { readonly fd: number }) | undefined {
  let fd: number;
  try {
    fd = openSync(raw(path), PLACE);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'ELOOP') return undefined;
    throw error;
  }
  if (!fstatSync(fd).isDirectory()) {
    closeSync(fd);
    return undefined;
  }
  const at = `/proc/self/fd/${fd}`;
  return { fd, at, enter: (name) => open(`${at}/${name}`), close: () => closeSync(fd) };
}

/** Linux's O_PATH, which Node does not export. */
const PLACE = 0o10_000_000 | constants.O_NOFOLLOW;

/** For Node's functions, which encode text as UTF-8: ASCII is the same in both. */
export function raw(path: BinaryPath): Buffer | string {
  return IS_ASCII.test(path) ? path : Buffer.from(path, 'latin1');
}
