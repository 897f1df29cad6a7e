import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { syncDirectoryOf } from './sync-directory.js';

/**
 * Replaces a file completely or not at all.
 * @throws the operating system's error; then nothing has changed
 */
export function replaceFile(path: string, content: Uint8Array | string, mode = 0o600): void {
  // The name consists of the process id and the time, and `wx` guards against a collision. A random name would load
  // node:crypto, which takes 3 ms at startup.
  const draft = `${path}.${process.pid}-${process.hrtime.bigint().toString(36)}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(descriptor, content);
    if (mode !== 0o600) fchmodSync(descriptor, mode);
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
