import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** An open file that stays the same even if its name is taken. */
export interface OpenFile {
  read(): Buffer;
  close(): void;
}

/** Undefined unless it is a regular file. @param path its characters are bytes */
export function openForReading(path: string): OpenFile | undefined {
  let fd: number;
  try {
    // A pipe would block until it has a writer.
    fd = openSync(
      Buffer.from(path, 'latin1'),
      constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW,
    );
  } catch {
    return undefined;
  }
  if (!fstatSync(fd).isFile()) {
    closeSync(fd);
    return undefined;
  }
  let isOpen = true;
  return {
    read: () => readFileSync(fd),
    close() {
      if (isOpen) closeSync(fd);
      isOpen = false;
    },
  };
}
