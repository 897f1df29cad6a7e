import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { syncDirectoryOf } from './journal-file.js';

/**
 * Puts a file (mode 0600) in the place of what is there, whole or not at all.
 * @throws the operating system's error: nothing has changed then
 */
export function replaceFile(path: string, content: Uint8Array | string): void {
  const draft = `${path}.${randomUUID()}`;
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
