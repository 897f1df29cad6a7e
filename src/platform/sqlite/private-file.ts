import { entryStat } from '../fs/fs-entry.js';
import { ensureJournalFile } from '../fs/journal-file.js';
import { foreignReach } from '../fs/out-of-reach.js';
import { ReadFailure, tooLarge } from '../fs/read-file.js';
import { readFileBytes } from '../fs/read-file-bytes.js';
import { replaceFile } from '../fs/replace-file.js';
import { openSqlite } from './sqlite.js';

/** A program with many tools, or a hundred servers, may need a few megabytes. */
export const MOST_PRIVATE_BYTES = 32 * 1024 * 1024;
const LOCK_MS = 10_000;

/**
 * Reads a file that belongs to this user and that no other user could have written; undefined if there is
 * none.
 * @throws ReadFailure
 */
export function readPrivateFile(path: string): Uint8Array | undefined {
  if (entryStat(path) === undefined) return undefined;
  refuseForeignReach(path);
  return readFileBytes(path, { maxBytes: MOST_PRIVATE_BYTES, acceptPipes: false, ownOnly: true });
}

/**
 * Replaces a private file (mode 0600) completely or not at all, one process at a time. Missing directories
 * are created (0700).
 * @param change gets the current contents and returns the new ones; returning the same array (or undefined)
 * changes nothing
 * @throws ReadFailure, also if the new contents are larger than MOST_PRIVATE_BYTES; errors of `change`; the operating
 * system's error
 */
export function updatePrivateFile(
  path: string,
  change: (bytes: Uint8Array | undefined) => Uint8Array | undefined,
): void {
  withLock(`${path}.lock`, () => {
    const bytes = readPrivateFile(path);
    const changed = change(bytes);
    if (changed === undefined || changed === bytes) return;
    if (changed.length > MOST_PRIVATE_BYTES) throw tooLarge(MOST_PRIVATE_BYTES);
    replaceFile(path, changed);
  });
}

function refuseForeignReach(path: string): void {
  const why = foreignReach(path);
  if (why === undefined) return;
  throw new ReadFailure(
    `other users could replace it: ${why}.`,
    'Let only its owner write there (chmod o-w).',
  );
}

// The lock on a database into which nothing is ever written: the system releases it when its holder dies,
// however it dies.
function withLock(path: string, action: () => void): void {
  ensureJournalFile(path);
  refuseForeignReach(path);
  const lock = openSqlite(path);
  try {
    lock.exec(`PRAGMA busy_timeout = ${LOCK_MS}`);
    lock.exec('BEGIN IMMEDIATE');
    action();
    lock.exec('ROLLBACK');
  } finally {
    lock.close();
  }
}
