import { dirname, join } from 'node:path';
import type { DirectoryMode, ExaminedEntry, RestoredFile, Sandbox } from '../../contract/files.js';
import { isToolError } from '../../errors/tool-error.js';
import type { NotedIntent } from '../recover/noted-change.js';

export interface PlannedDirectories {
  /** Directories that the call removed, and that are missing. */
  readonly make: readonly DirectoryMode[];
  /** Directories that the call made, and that nothing will be in. */
  readonly tidy: readonly string[];
  /** All directories that are missing, and that will be made. */
  readonly makes: readonly string[];
}

/** What becomes of directories when `files` are put back. */
export function planDirectories(
  intents: readonly NotedIntent[],
  files: readonly RestoredFile[],
  sandbox: Sandbox,
): PlannedDirectories {
  const look = (path: string): ExaminedEntry['kind'] | undefined => examineQuietly(path, sandbox)?.kind;
  const removed = intents.flatMap((intent) => intent.removed);
  const make = removed.filter(({ path }) => look(path) === 'none');
  const coming = [...files.flatMap(({ path, bytes }) => (bytes === null ? [] : [path]))];
  const makes = new Set(make.map(({ path }) => path));
  for (const path of [...coming, ...makes]) {
    for (let at = dirname(path); look(at) === 'none'; at = dirname(at)) makes.add(at);
  }
  const going = new Set(files.flatMap(({ path, bytes }) => (bytes === null ? [path] : [])));
  const tidy: string[] = [];
  const made = new Set(intents.flatMap((intent) => intent.made));
  // The innermost first: a directory goes when all that is in it goes.
  for (const path of [...made].sort((a, b) => b.length - a.length)) {
    const entry = examineQuietly(path, sandbox);
    if (entry?.kind !== 'dir' || !entry.names.every((name) => going.has(join(path, name)))) continue;
    if ([...coming, ...makes].some((other) => dirname(other) === path)) continue;
    going.add(path);
    tidy.push(path);
  }
  return { make, tidy, makes: [...makes] };
}

/** Undefined where it may not be looked at: then it stays as it is. */
function examineQuietly(path: string, sandbox: Sandbox): ExaminedEntry | undefined {
  try {
    return sandbox.examine(path);
  } catch (error) {
    if (isToolError(error)) return undefined;
    throw error;
  }
}
