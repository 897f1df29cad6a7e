import { type FSWatcher, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

export interface FileWatch {
  close(): void;
}

/** However often a file is written, `onChange` is called no more often. */
const LEAST_MS = 100;
/** File systems that report no changes, and files that are not there yet, are looked at. */
const LOOK_MS = 1_000;

/**
 * Calls back at once, and soon after one of these files of one directory has changed, was made or is gone; the file and its directory need
 * not be there yet. It may call once more than there are changes. Keeps this program alive until it is closed.
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
  // Two writes of one tick of the clock look the same: behind the last change that can be seen there is one more call.
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
      // There is no such directory yet, or there are no more watches to be had: it is tried again.
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

/** Another one where anything was written. */
function signature(paths: readonly string[]): string {
  const parts = paths.map((path) => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    // An empty log is as good as none: to look at a database may make one.
    if (found === undefined || found.size === 0n) return '';
    return `${found.ino}:${found.size}:${found.mtimeNs}`;
  });
  return parts.join(' ');
}
