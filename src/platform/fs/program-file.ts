import { createHash } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Whether this user may run it. Windows tells programs by their names. */
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
 * Why what lies at `path` could be another user's by the time it runs: it, or a directory on the way to it, may be changed by
 * other users, or belongs to one. Undefined where only this user and the administrator can change it, and where files have
 * no owners.
 * @param known answers of earlier calls, by real path: directories are shared.
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
  // In a sticky directory (`/tmp`) others add entries, and cannot replace ours.
  const { uid, gid, mode } = stat;
  const reason = above ?? weaknessOf(path, { uid, gid, mode: (mode & STICKY) === 0 ? mode : 0 });
  known.set(path, reason);
  return reason;
}

type Ownership = Pick<Stats, 'uid' | 'gid' | 'mode'>;

function weaknessOf(path: string, { uid, gid, mode }: Ownership): string | undefined {
  if (uid !== 0 && uid !== process.geteuid?.()) return `"${path}" belongs to another user (${uid})`;
  if ((mode & OTHERS_WRITE) !== 0) return `"${path}" may be written by every user`;
  // The user's own group is the user, on most systems.
  if ((mode & GROUP_WRITES) !== 0 && gid !== 0 && gid !== process.getegid?.()) {
    return `"${path}" may be written by the group ${gid}`;
  }
  return undefined;
}

const PIECE_BYTES = 256 * 1024;

/** SHA-256 in hex of a file, read piece by piece. */
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
