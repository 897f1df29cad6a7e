/** Why text could not be had, and what to do, as two sentences that a message can end with. */
export class ReadFailure extends Error {
  readonly reason: string;
  readonly remedy: string;

  constructor(reason: string, remedy: string, cause?: unknown) {
    super(`${reason} ${remedy}`, cause === undefined ? undefined : { cause });
    this.name = 'ReadFailure';
    this.reason = reason;
    this.remedy = remedy;
  }
}

const SYSTEM_REASONS: Readonly<Record<string, readonly [reason: string, remedy: string]>> = {
  ENOENT: ['it does not exist.', 'Check the name, and the directory you are in.'],
  ENOTDIR: ['a part of its path is a file, not a directory.', 'Check the path.'],
  EISDIR: ['it is a directory.', 'Name a file.'],
  EACCES: ['permission is denied.', 'Make it readable for you.'],
  EPERM: ['permission is denied.', 'Make it readable for you.'],
  ELOOP: ['its symbolic links lead in a circle.', 'Name the file itself.'],
  ENAMETOOLONG: ['its name is too long.', 'Check that it is a file name.'],
  EAGAIN: ['nothing can be read from it now.', 'Use - for standard input.'],
};

/** The system's error in words. */
export function toReadFailure(error: unknown): ReadFailure {
  if (error instanceof ReadFailure) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const known = code === undefined ? undefined : SYSTEM_REASONS[code];
  if (known !== undefined) return new ReadFailure(known[0], known[1], error);
  return new ReadFailure(`${message ?? String(error)}.`, 'Check the file and the disk.', error);
}

export function tooLarge(maxBytes: number): ReadFailure {
  return new ReadFailure(`it is larger than ${maxBytes} bytes.`, 'Send less at once.');
}
