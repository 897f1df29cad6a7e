import { join } from 'node:path';
import type { OpenEntry } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { parseSegment, type Segment } from '../patterns/segment.js';
import { systemClock } from '../platform/clock/clock.js';
import { closeDescriptor, readBytes } from '../platform/fs/fs-bytes.js';
import { directoryEntries, targetOf } from '../platform/fs/fs-entry.js';
import { endsBelow } from './path-matcher.js';

/** The files with ignore rules in each directory; a later name overrides an earlier one. */
const IGNORE_FILES: readonly string[] = ['.gitignore', '.ignore', '.rgignore'];

const MAX_BYTES = 1024 * 1024;

/**
 * The rules of ignore files in the directories above, up to the root, rewritten as an ignore file for the
 * open directory. Ripgrep itself would also read those outside the root.
 */
export function inheritedIgnores(held: OpenEntry, components: readonly string[]): string {
  const lines: string[] = [];
  for (const name of IGNORE_FILES) {
    for (let depth = 0; depth < components.length; depth++) {
      const text = readText(held, join(held.root, ...components.slice(0, depth), name));
      const below = components.slice(depth);
      for (const line of text.split('\n')) lines.push(...rulesBelow(line, below));
    }
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** The rule as seen from further down; empty if it matches nothing there. */
function rulesBelow(line: string, directories: readonly string[]): readonly string[] {
  const rule = line.replace(/\r$/, '').replace(/(?<!\\)[ \t]+$/, '');
  if (rule === '' || rule.startsWith('#')) return [];
  const mark = rule.startsWith('!') ? '!' : '';
  const end = rule.endsWith('/') ? '/' : '';
  const body = rule.slice(mark.length, rule.length - end.length);
  if (!body.includes('/')) return [rule];
  const parts = body.replace(/^\//, '').split('/');
  // No path has an empty part. Such a rule matches nothing, but its remainder in a subdirectory could: `/**//`.
  if (parts.includes('')) return [];
  const segments = parseParts(parts);
  if (segments === undefined) return [];
  return endsBelow(segments, directories).map((index) => `${mark}/${parts.slice(index).join('/')}${end}`);
}

function parseParts(parts: readonly string[]): readonly Segment[] | undefined {
  try {
    return parts.map((part) => parseSegment(part, { hasGroups: false }));
  } catch {
    return undefined;
  }
}

function readText(held: OpenEntry, path: string): string {
  try {
    const bytes = held.fileAt(path, (file) => {
      const descriptor = file.openForReading();
      try {
        return readBytes(descriptor, { offset: 0, length: MAX_BYTES, size: file.size });
      } finally {
        closeDescriptor(descriptor);
      }
    });
    return bytes === undefined ? '' : Buffer.from(bytes).toString('utf8');
  } catch {
    // An unreadable file has no rules; ripgrep treats those further down the same way.
    return '';
  }
}

/** A walk that ends sooner has no extra cost. */
const LOOKED_FOR_AFTER_MS = 1_000;
/** A larger file is not a list of rules. */
const MOST_BYTES = 16 * 1024 * 1024;
const DIRECTORIES_A_TURN = 32;

/**
 * Ripgrep opens every ignore file on its way, of any kind: it would wait forever for a pipe, and read a link
 * to `/dev/zero` into memory. So a walk that takes long is checked for such a file, and ended.
 */
interface IgnoreWatch {
  /** Aborted if there is such a file, or with the search. */
  readonly signal: AbortSignal;
  /** @throws ToolError `execution_failed` that names the file, if that was the reason */
  check(): void;
  end(): void;
}

export function watchIgnores(held: OpenEntry, search: AbortSignal): IgnoreWatch {
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

/**
 * Searches from the open directory down. Only the kind of each entry is read, so a swapped directory reveals
 * nothing.
 */
async function findEndless(held: OpenEntry, signal: AbortSignal): Promise<string | undefined> {
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
    `Cannot search: the ignore file ${JSON.stringify(path)} is not a list of rules, but a pipe, a device or a huge file. ` +
      'Remove it, or set include_ignored to true.',
    { details: { path } },
  );
}
