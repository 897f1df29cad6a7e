import { type FSWatcher, watch } from 'node:fs';

/**
 * Calls back immediately when a file, or an entry of a directory, has changed, if the system reports it.
 * Does not keep this program running. Paths that cannot be watched are skipped.
 * @returns a function that ends it
 */
export function watchEntries(paths: readonly string[], onChange: (path: string) => void): () => void {
  const watchers = paths.flatMap((path): FSWatcher[] => {
    try {
      const watcher = watch(path, { persistent: false }, () => onChange(path));
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      return [];
    }
  });
  return () => {
    for (const watcher of watchers) watcher.close();
  };
}
