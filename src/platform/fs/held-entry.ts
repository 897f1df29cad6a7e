import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { entryStat } from './fs-entry.js';

/** A file or directory that is held while others may move it. */
export interface HeldEntry {
  /** It has another name than the ones that it had; its content can be found there. */
  isElsewhere(): boolean;
  close(): void;
}

/** Holds what lies at a path. Undefined where nothing does, or a link. */
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
    // The way there is closed, or leads in a circle.
    return false;
  }
}

/** Linux's O_PATH; Node does not name it. */
const PLACE = 0o10_000_000 | constants.O_NOFOLLOW;
