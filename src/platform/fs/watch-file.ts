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
 * Calls back soon after one of these files of one directory has changed, was made or is gone; the file and its directory need
 * not be there yet. Keeps this program alive until it is closed.
 */
export function watchFiles(paths: readonly [string, ...string[]], onChange: () => void): FileWatch {
  const [first] = paths;
  const names = new Set(paths.map((path) => basename(path)));
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  let seen = signature(paths);
  let isPaused = false;
  let isMissed = false;
  const look = (): void => {
    if (isPaused) {
      isMissed = true;
      return;
    }
    const now = signature(paths);
    if (now === seen) return;
    seen = now;
    isPaused = true;
    timer = setTimeout(() => {
      isPaused = false;
      if (isMissed) look();
      isMissed = false;
    }, LEAST_MS);
    onChange();
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
