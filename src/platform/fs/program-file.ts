import { createHash } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Whether this user may run it. On Windows the name decides. */
export function isExecutable(path: string): boolean {
  if (process.platform === 'win32' && !/\.(?:exe|com)$/i.test(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const OTHERS_WRITE = 0o002;
const GROUP_WRITES = 0o020;
const STICKY = 0o1000;

/**
 * Why the file at `path` could belong to another user by the time it runs: other users can change it or a
 * directory on its way, or own one. Undefined if only this user and the administrator can change it, and on
 * systems without owners.
 * @param known answers of earlier calls, by real path, because directories are shared.
 */
export function findForeignWriter(
  path: string,
  known: Map<string, string | undefined> = new Map(),
): string | undefined {
  if (process.getuid === undefined) return undefined;
  const real = realpathSync.native(path);
  const parent = dirname(real);
  const above = parent === real ? undefined : foreignParent(parent, known);
  return above ?? weaknessOf(real, statSync(real));
}

function foreignParent(path: string, known: Map<string, string | undefined>): string | undefined {
  if (known.has(path)) return known.get(path);
  const parent = dirname(path);
  const above = parent === path ? undefined : foreignParent(parent, known);
  const stat = statSync(path);
  // In a sticky directory (`/tmp`) others can add entries but not replace ours.
  const { uid, gid, mode } = stat;
  const reason = above ?? weaknessOf(path, { uid, gid, mode: (mode & STICKY) === 0 ? mode : 0 });
  known.set(path, reason);
  return reason;
}

type Ownership = Pick<Stats, 'uid' | 'gid' | 'mode'>;

function weaknessOf(path: string, { uid, gid, mode }: Ownership): string | undefined {
  if (uid !== 0 && uid !== process.geteuid?.()) return `"${path}" belongs to another user (${uid})`;
  if ((mode & OTHERS_WRITE) !== 0) return `"${path}" may be written by every user`;
  // On most systems the user's own group has no other members.
  if ((mode & GROUP_WRITES) !== 0 && gid !== 0 && gid !== process.getegid?.()) {
    return `"${path}" may be written by the group ${gid}`;
  }
  return undefined;
}

/**
 * Why the system would not start the file as a program, going by its first bytes. Node would pass such a
 * file to the shell, which runs any text line by line. Undefined: no reason found, or it cannot be read.
 */
export function whyNoProgram(path: string): string | undefined {
  const head = process.platform === 'win32' ? undefined : firstBytes(path);
  if (head === undefined || head.subarray(0, 2).equals(INTERPRETER)) return undefined;
  if (head.length === 0) return 'it is empty';
  if (!head.includes(0))
    return 'its first line does not name its interpreter: begin it with "#!/bin/sh" or the like';
  if (isNative(head) || knowsForeignFormats()) return undefined;
  return 'it is not a program for this machine';
}

const HEAD_BYTES = 256;
const INTERPRETER = Buffer.from('#!');
const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
/** `e_machine` values for these processors. Others are not checked. */
const MACHINES: Readonly<Record<string, readonly number[]>> = { x64: [62, 3], arm64: [183, 40] };
/** Mach-O for one or several processors. */
const MACH_O: readonly number[] = [0xfeedface, 0xfeedfacf, 0xcefaedfe, 0xcffaedfe, 0xcafebabe, 0xcafebabf];

function isNative(head: Buffer): boolean {
  if (process.platform === 'darwin') return head.length >= 4 && MACH_O.includes(head.readUInt32BE(0));
  if (process.platform !== 'linux') return true;
  if (!head.subarray(0, 4).equals(ELF) || head.length < 52) return false;
  const machine = head[5] === 2 ? head.readUInt16BE(18) : head.readUInt16LE(18);
  return MACHINES[process.arch]?.includes(machine) ?? true;
}

/** Linux can be configured to run further formats (`binfmt_misc`). */
function knowsForeignFormats(): boolean {
  try {
    return readdirSync('/proc/sys/fs/binfmt_misc').length > OWN_ENTRIES;
  } catch {
    return false;
  }
}

/** `register` and `status`. */
const OWN_ENTRIES = 2;

function firstBytes(path: string): Buffer | undefined {
  try {
    const descriptor = openSync(path, 'r');
    try {
      const head = Buffer.alloc(HEAD_BYTES);
      return head.subarray(0, readSync(descriptor, head));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Some programs may be executed but not read.
    return undefined;
  }
}

const PIECE_BYTES = 256 * 1024;

/** The SHA-256 of a file in hex; the file is read in chunks. */
export function hashFile(path: string): string {
  const hash = createHash('sha256');
  const descriptor = openSync(path, 'r');
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (let length = readSync(descriptor, piece); length > 0; length = readSync(descriptor, piece)) {
      hash.update(piece.subarray(0, length));
    }
  } finally {
    closeSync(descriptor);
  }
  return hash.digest('hex');
}
