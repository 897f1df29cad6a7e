import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Text for a program that takes it only from a file. */
export interface ScratchFile {
  /** For the program to inherit as its descriptor 3; undefined: it opens `path` by name. */
  readonly descriptor: number | undefined;
  /** What the program opens. */
  readonly path: string;
  close(): void;
}

/** A file for us alone, in the system's temporary directory; nameless from the beginning where that is possible. */
export function openScratchFile(text: string): ScratchFile {
  const path = join(tmpdir(), `toolexec-${randomBytes(12).toString('hex')}`);
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  if (process.platform === 'win32') {
    return { descriptor: undefined, path, close: () => rmSync(path, { force: true }) };
  }
  try {
    const descriptor = openSync(path, 'r');
    return { descriptor, path: '/dev/fd/3', close: () => closeSync(descriptor) };
  } finally {
    rmSync(path, { force: true });
  }
}
