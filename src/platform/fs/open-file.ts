import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** A file that stays the same one, whatever takes its name. */
export interface OpenFile {
  read(): Buffer;
  close(): void;
}

/** Undefined where there is no regular file. @param path its characters are bytes */
export function openForReading(path: string): OpenFile | undefined {
  let fd: number;
  try {
    // A pipe would keep us waiting for a writer.
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
