import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';

/** What lies at a path, open: another file that takes its name afterwards is not it. */
export interface PlaceDescriptor {
  /** For a program to inherit. It reads nothing, it only names. */
  readonly fd: number;
  /** A path that leads to it and to nothing else, in this process. */
  readonly at: string;
  close(): void;
}

/**
 * Opens the file or directory at a canonical path. Undefined where there is nothing, or a link, or where a link is on the
 * way: then the path is not the one that was checked.
 */
export function openPlaceDescriptor(path: string): PlaceDescriptor | undefined {
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
