import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncDirectoryOf } from './sync-directory.js';

/**
 * Replaces a file completely or not at all.
 * @param owner of the new file, if root writes it; default: root
 * @throws the operating system's error; then nothing has changed
 */
export function replaceFile(
  path: string,
  content: Uint8Array | string,
  mode = 0o600,
  owner?: { readonly uid: number; readonly gid: number },
): void {
  // The name consists of the process id and the time, and `wx` guards against a collision. A random name would load
  // node:crypto, which takes 3 ms at startup.
  const draft = `${path}.${process.pid}-${process.hrtime.bigint().toString(36)}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(descriptor, content);
    if (owner !== undefined && process.geteuid?.() === 0) fchownSync(descriptor, owner.uid, owner.gid);
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
