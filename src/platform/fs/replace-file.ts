import { closeSync, fsyncSync, openSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { syncDirectoryOf } from './sync-directory.js';

/**
 * Puts a file (mode 0600) in the place of what is there, whole or not at all.
 * @throws the operating system's error: nothing has changed then
 */
export function replaceFile(path: string, content: Uint8Array | string): void {
  // The process and the moment, and `wx` should they be taken: a random name would load node:crypto, 3 ms of a start.
  const draft = `${path}.${process.pid}-${process.hrtime.bigint().toString(36)}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
    renameSync(draft, path);
  } catch (error) {
    unlinkSync(draft);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  syncDirectoryOf(path);
}
