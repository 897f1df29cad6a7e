import { closeSync, openSync, readSync, statSync } from 'node:fs';

const HEADER = 'SQLite format 3\0';

/** Whether a regular file begins as SQLite's do; pipes are left unread. */
export function isSqliteFile(path: string): boolean {
  let descriptor: number | undefined;
  try {
    if (!statSync(path).isFile()) return false;
    descriptor = openSync(path, 'r');
    const head = new Uint8Array(HEADER.length);
    readSync(descriptor, head);
    return Buffer.from(head).toString('latin1') === HEADER;
  } catch {
    // Whoever reads it next says why it cannot be read.
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
