import { type FSWatcher, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

export interface FileWatch {
  close(): void;
}

/** `onChange` is called no more often than this, however often a file is written. */
const LEAST_MS = 100;
/** How often missing files, and files on file systems that report no changes, are examined. */
const LOOK_MS = 1_000;

/**
 * Calls back immediately, and then soon after one of these files (all in one directory) was changed, created or
 * removed. The files and the directory may be missing at first. It may call back once more than there were changes.
 * Keeps this program running until it is closed.
 */
export function watchFiles(paths: readonly [string, ...string[]], onChange: () => void): FileWatch {
  const [first] = paths;
  const names = new Set(paths.map((path) => basename(path)));
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  let seen = signature(paths);
  let isPaused = false;
  const isOther = (): boolean => {
    const now = signature(paths);
    const changed = now !== seen;
    seen = now;
    return changed;
  };
  const look = (): void => {
    if (isPaused || !isOther()) return;
    pause();
    onChange();
  };
  // Two writes within one tick of the clock look the same, so there is one more call after the last visible
  // change.
  const pause = (): void => {
    isPaused = true;
    timer = setTimeout(() => {
      isPaused = false;
      if (isOther()) pause();
      onChange();
    }, LEAST_MS);
  };
  const listen = (): void => {
    if (watcher !== undefined) return;
    try {
      watcher = watch(dirname(first), (_, name) => {
        if (name === null || names.has(name)) look();
      });
      watcher.on('error', () => {
        watcher?.close();
        watcher = undefined;
      });
    } catch {
      // The directory does not exist yet, or the system has no more watches: it is tried again later.
    }
  };
  listen();
  pause();
  onChange();
  const looking = setInterval(() => {
    listen();
    look();
  }, LOOK_MS);
  return {
    close() {
      clearTimeout(timer);
      clearInterval(looking);
      watcher?.close();
    },
  };
}

/** Differs whenever something was written. */
function signature(paths: readonly string[]): string {
  const parts = paths.map((path) => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    // An empty log counts as none: reading a database may create one.
    if (found === undefined || found.size === 0n) return '';
    return `${found.ino}:${found.size}:${found.mtimeNs}`;
  });
  return parts.join(' ');
}
