import { closeSync, openSync } from 'node:fs';
import { openUnnamedFile } from './scratch.js';

/** A file that a program inherits, open at its beginning. */
export interface InheritedFile {
  readonly fd: number;
  close(): void;
}

/** @throws the system's error where it cannot be read. */
export function openInherited(path: string): InheritedFile {
  const fd = openSync(path, 'r');
  return { fd, close: () => closeSync(fd) };
}

/** The same of a text that is in no file. @throws RangeError where there is no room for it. */
export function openText(text: string): InheritedFile {
  const fd = openUnnamedFile(0o400, text);
  if (fd === undefined) throw noRoom();
  return { fd, close: () => closeSync(fd) };
}

/**
 * The same of bytes that are in no file; the same bytes are written once.
 * @throws RangeError where there is no room for them.
 */
export function openBytes(bytes: Uint8Array): InheritedFile {
  const fd = written.get(bytes) ?? openUnnamedFile(0o400, bytes);
  if (fd === undefined) throw noRoom();
  written.set(bytes, fd);
  // With a place of its own: what reads one reads it to its end.
  return openInherited(`/proc/self/fd/${fd}`);
}

const written = new Map<Uint8Array, number>();

function noRoom(): RangeError {
  return new RangeError('There is no room for a temporary file.');
}
