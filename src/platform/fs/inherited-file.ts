import { closeSync, openSync } from 'node:fs';
import { openUnnamedFile } from './scratch.js';

/** A file for a program to inherit, open at its start. */
export interface InheritedFile {
  readonly fd: number;
  close(): void;
}

/** @throws the system's error if it cannot be read. */
export function openInherited(path: string): InheritedFile {
  const fd = openSync(path, 'r');
  return { fd, close: () => closeSync(fd) };
}

/** The same for a text without a file. @throws RangeError if there is no room for it. */
export function openText(text: string): InheritedFile {
  const fd = openUnnamedFile(0o400, text);
  if (fd === undefined) throw noRoom();
  return { fd, close: () => closeSync(fd) };
}

/**
 * The same for bytes without a file; equal arrays are written once.
 * @throws RangeError if there is no room for them.
 */
export function openBytes(bytes: Uint8Array): InheritedFile {
  const fd = written.get(bytes) ?? openUnnamedFile(0o400, bytes);
  if (fd === undefined) throw noRoom();
  written.set(bytes, fd);
  // With its own position, because a reader consumes it.
  return openInherited(`/proc/self/fd/${fd}`);
}

const written = new Map<Uint8Array, number>();

function noRoom(): RangeError {
  return new RangeError('There is no room for a temporary file.');
}
