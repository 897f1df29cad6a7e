import { type FSWatcher, statSync, watch } from 'node:fs';

export interface DirectoryWatch {
  close(): void;
}

/** Changes that follow each other this quickly are reported once. */
const QUIET_MS = 100;
/** A watched directory may be created, or created again, later. */
const RENEW_MS = 1_000;

/** Calls back some time after an entry of a directory has changed. Does not keep this program running. */
export function watchDirectories(directories: readonly string[], onChange: () => void): DirectoryWatch {
  let quiet: NodeJS.Timeout | undefined;
  const changed = (): void => {
    clearTimeout(quiet);
    quiet = setTimeout(onChange, QUIET_MS).unref();
  };
  const places = directories.map((directory) => new WatchedDirectory(directory, changed));
  const renewing = setInterval(() => {
    for (const place of places) if (place.renew()) changed();
  }, RENEW_MS).unref();
  return {
    close() {
      clearTimeout(quiet);
      clearInterval(renewing);
      for (const place of places) place.end();
    },
  };
}

class WatchedDirectory {
  readonly #path: string;
  readonly #changed: () => void;
  #watcher: FSWatcher | undefined;
  #inode: bigint | undefined;

  constructor(path: string, changed: () => void) {
    this.#path = path;
    this.#changed = changed;
    this.renew();
  }

  /** Returns whether the directory is missing, or is another one than the watched one. */
  renew(): boolean {
    const inode = inodeOf(this.#path);
    if (inode === this.#inode && (inode === undefined) === (this.#watcher === undefined)) return false;
    const isOther = inode !== this.#inode;
    this.end();
    this.#inode = inode;
    if (inode !== undefined) this.#start();
    return isOther;
  }

  end(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #start(): void {
    try {
      this.#watcher = watch(this.#path, { persistent: false }, this.#changed);
      this.#watcher.on('error', () => this.end());
    } catch {
      // The system has no more watches; watching is tried again later.
    }
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}
