import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';

/** What lies at a path, held: whatever takes its name afterwards is something else. */
export interface HeldPlace {
  /** For a program to inherit. It reads nothing, it only names. */
  readonly fd: number;
  /** A path that leads to it and to nothing else, in this process. */
  readonly at: string;
  close(): void;
}

/**
 * Holds the file or directory at a canonical path. Undefined where nothing is, or a link, or where a link leads there:
 * then the path is not what was judged.
 */
export function holdPlace(path: string): HeldPlace | undefined {
  let fd: number;
  try {
    fd = openSync(path, PLACE);
  } catch {
    return undefined;
  }
  const at = `/proc/self/fd/${fd}`;
  // The kernel's own name: every link on the way would show.
  if (!fstatSync(fd).isSymbolicLink() && readlinkSync(at) === path) {
    return { fd, at, close: () => closeSync(fd) };
  }
  closeSync(fd);
  return undefined;
}

/** Linux's O_PATH; Node does not name it. */
const PLACE = 0o10_000_000 | constants.O_NOFOLLOW;
