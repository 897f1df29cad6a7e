import type { HeldEntry } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import { directoryEntries, targetOf } from '../platform/fs/fs-entry.js';
import { IGNORE_FILES } from './ignore-files.js';

/** A walk that ends sooner than this costs nothing more. */
const LOOKED_FOR_AFTER_MS = 1_000;
/** More than this is no list of rules. */
const MOST_BYTES = 16 * 1024 * 1024;
const DIRECTORIES_A_TURN = 32;

/**
 * Ripgrep opens every ignore file on its way, whatever it is: it would wait for a pipe without end, and read a link to
 * `/dev/zero` into memory. A walk that takes long is therefore looked through for such a file, and ended.
 */
interface IgnoreWatch {
  /** Aborted when there is one, or when the search is. */
  readonly signal: AbortSignal;
  /** @throws ToolError `execution_failed` that names the file, where that was the reason */
  check(): void;
  end(): void;
}

export function watchIgnores(held: HeldEntry, search: AbortSignal): IgnoreWatch {
  const over = new AbortController();
  const found = new AbortController();
  let path: string | undefined;
  const stopWaiting = systemClock.after(LOOKED_FOR_AFTER_MS, () => {
    findEndless(held, AbortSignal.any([over.signal, search])).then((endless) => {
      path = endless;
      if (endless !== undefined) found.abort();
    }, NOTHING);
  });
  return {
    signal: AbortSignal.any([search, found.signal]),
    check() {
      if (path !== undefined && !search.aborted) throw endlessIgnore(path);
    },
    end() {
      stopWaiting();
      over.abort();
    },
  };
}

const NOTHING = (): void => {};

/** From the held directory down. Only what things are is looked at: a swapped directory gives nothing away. */
async function findEndless(held: HeldEntry, signal: AbortSignal): Promise<string | undefined> {
  const directories = [''];
  for (let seen = 0; !signal.aborted; seen++) {
    const directory = directories.pop();
    if (directory === undefined) return undefined;
    if (seen % DIRECTORIES_A_TURN === 0) await new Promise(setImmediate);
    for (const { name, type } of entriesOf(`${held.at}/${directory}`)) {
      const path = directory + name;
      if (type === 'dir') directories.push(`${path}/`);
      else if (IGNORE_FILES.includes(name) && isEndless(`${held.at}/${path}`)) return path;
    }
  }
  return undefined;
}

function entriesOf(directory: string): ReturnType<typeof directoryEntries> {
  try {
    return directoryEntries(directory);
  } catch {
    return [];
  }
}

function isEndless(path: string): boolean {
  const target = targetOf(path);
  if (target === undefined || target.isDirectory()) return false;
  return !target.isFile() || target.size > MOST_BYTES;
}

function endlessIgnore(path: string): ToolError {
  return new ToolError(
    'execution_failed',
    `Cannot search: the ignore file ${JSON.stringify(path)} is no list of rules, but a pipe, a device or a huge file. ` +
      'Remove it, or set include_ignored to true.',
    { details: { path } },
  );
}
