import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { entryStat } from './fs-entry.js';

/** An open file or directory that other programs may move. */
export interface HeldEntry {
  /** It has a new name, under which its content is reachable. */
  isElsewhere(): boolean;
  close(): void;
}

/** Opens the entry at a path. Undefined if there is none, or it is a link. */
export function holdEntry(path: string): HeldEntry | undefined {
  let fd: number;
  try {
    fd = openSync(path, PLACE);
  } catch {
    return undefined;
  }
  const was = fstatSync(fd);
  if (was.isSymbolicLink()) {
    closeSync(fd);
    return undefined;
  }
  return {
    isElsewhere() {
      const names = fstatSync(fd).nlink;
      const isHere = isAt(path, was);
      return was.isDirectory() ? !isHere && names > 0 : names > was.nlink - (isHere ? 0 : 1);
    },
    close: () => closeSync(fd),
  };
}

function isAt(path: string, { dev, ino }: { readonly dev: number; readonly ino: number }): boolean {
  try {
    const stat = entryStat(path);
    return stat?.ino === ino && stat.dev === dev;
  } catch {
    // The path to it is inaccessible, or a loop of links.
    return false;
  }
}

/** Linux's O_PATH, which Node does not export. */
const PLACE = 0o10_000_000 | constants.O_NOFOLLOW;
