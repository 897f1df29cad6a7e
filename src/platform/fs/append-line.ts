import { appendFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectories } from './make-directories.js';

/**
 * Adds one line to a file (mode 0600) that several processes write to; the directory is created if needed (0700). A
 * file that has reached `maxBytes` is first renamed to `PATH.1`.
 * @throws the operating system's error
 */
export function appendLine(path: string, line: string, maxBytes: number): void {
  makeDirectories(dirname(path));
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size >= maxBytes) renameSync(path, `${path}.1`);
  // One write with O_APPEND: lines of several processes never mix.
  appendFileSync(path, `${line}\n`, { mode: 0o600 });
}
