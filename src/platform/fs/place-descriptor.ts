import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';

/** An open entry that stays the same even if its name is taken. */
export interface PlaceDescriptor {
  /** For a program to inherit. It only identifies the entry and cannot read it. */
  readonly fd: number;
  /** A path to exactly this entry, in this process. */
  readonly at: string;
  close(): void;
}

/**
 * Opens the entry at a canonical path. Undefined if there is none, or it is a link, or a link is on the way:
 * then the path is not the checked one.
 */
export function openPlaceDescriptor(path: string): PlaceDescriptor | undefined {
  let fd: number;
  try {
    fd = openSync(path, PLACE);
  } catch {
    return undefined;
  }
  const at = `/proc/self/fd/${fd}`;
  // The kernel's own name would reveal every link on the way.
  if (!fstatSync(fd).isSymbolicLink() && readlinkSync(at) === path) {
    return { fd, at, close: () => closeSync(fd) };
  }
  closeSync(fd);
  return undefined;
}

/** Linux's O_PATH, which Node does not export. */
const PLACE = 0o10_000_000 | constants.O_NOFOLLOW;
