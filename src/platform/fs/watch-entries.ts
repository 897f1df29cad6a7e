import { type FSWatcher, watch } from 'node:fs';

/**
 * Calls back at once when an entry of a directory has changed, as far as the system tells that. Does not keep this program
 * alive. What cannot be watched is not.
 * @returns ends it
 */
export function watchEntries(directories: readonly string[], onChange: () => void): () => void {
  const watchers = directories.flatMap((directory): FSWatcher[] => {
    try {
      const watcher = watch(directory, { persistent: false }, onChange);
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
