import type { ToolContext } from '../../contract/context.js';
import type { DirectoryEntry, FileStat } from '../../contract/files.js';
import { ToolError } from '../../errors/tool-error.js';
import { errnoOf } from '../changed-files.js';
import { throwIfAborted, yieldToLoop } from '../yield-to-loop.js';
import type { ListRequest } from './list-request.js';

export interface Walk {
  /** In walk order. */
  readonly entries: readonly ListEntry[];
  /** There are more entries than `max_entries`. */
  readonly more: boolean;
}

/**
 * Walks depth first, parents before children, each directory sorted by name, and stops at the first entry
 * over the limit.
 * @throws ToolError `execution_failed` if the directory is missing, not a directory, or unreadable.
 */
export async function walkDirectory(request: ListRequest, ctx: ToolContext): Promise<Walk> {
  const walker = new Walker(request, ctx);
  const children = await listRoot(request.path, ctx);
  const complete = await walker.enter(children, '', 1);
  return { entries: walker.entries, more: !complete };
}

async function listRoot(path: string, ctx: ToolContext): Promise<readonly DirectoryEntry[]> {
  try {
    return await ctx.files.list(path);
  } catch (error) {
    throwIfAborted(ctx);
    const errno = errnoOf(error);
    if (errno === 'ENOENT') {
      throw new ToolError('execution_failed', `path does not exist: ${path}`, {
        cause: error,
        details: { errno },
      });
    }
    if (errno === 'ENOTDIR' || (await isNoDirectory(path, ctx))) {
      throw new ToolError('execution_failed', `path is not a directory: ${path}`, { cause: error });
    }
    throw error;
  }
}

async function isNoDirectory(path: string, ctx: ToolContext): Promise<boolean> {
  try {
    const { type } = await ctx.files.stat(path);
    return type === 'file' || type === 'other';
  } catch {
    return false;
  }
}

/** Between them, timers and cancellation get a turn. */
const ENTRIES_AT_A_TIME = 64;

class Walker {
  readonly entries: ListEntry[] = [];
  readonly #request: ListRequest;
  readonly #ctx: ToolContext;
  #seen = 0;

  constructor(request: ListRequest, ctx: ToolContext) {
    this.#request = request;
    this.#ctx = ctx;
  }

  /** False if the walk stopped because the limit is reached. */
  async enter(children: readonly DirectoryEntry[], parent: string, depth: number): Promise<boolean> {
    const wanted = children.filter((child) => this.#isWanted(child, depth));
    wanted.sort((a, b) => compareCodePoints(a.name, b.name));
    for (let at = 0; at < wanted.length; at += ENTRIES_AT_A_TIME) {
      const some = wanted.slice(at, at + ENTRIES_AT_A_TIME);
      const stats = await this.#statAll(some, parent);
      for (const [index, child] of some.entries()) {
        const found = { child, path: parent + child.name, depth };
        const stat = stats[index];
        const entry =
          stat === undefined
            ? await examineEntry(found, join(this.#request.path, found.path), this.#ctx)
            : describeEntry(found, stat);
        const shown = entry.type === 'unknown' || this.#request.types[entry.type];
        if (shown && !this.#add(entry)) return false;
        const isEntered = entry.type === 'dir' && depth < this.#request.maxDepth;
        if (isEntered && !(await this.#descend(entry, shown))) return false;
      }
      await this.#rest(some.length);
    }
    return true;
  }

  async #rest(seen: number): Promise<void> {
    this.#seen += seen;
    if (this.#seen < ENTRIES_AT_A_TIME) return;
    this.#seen = 0;
    await yieldToLoop(this.#ctx);
  }

  /** An entry that is neither shown nor entered is not examined. */
  #isWanted({ name, type }: DirectoryEntry, depth: number): boolean {
    if (name.startsWith('.') && !this.#request.hidden) return false;
    return (
      type === 'unknown' || this.#request.types[type] || (type === 'dir' && depth < this.#request.maxDepth)
    );
  }

  async #statAll(
    children: readonly DirectoryEntry[],
    parent: string,
  ): Promise<readonly (FileStat | undefined)[]> {
    const names = children.map(({ name }) => name);
    const directory = parent === '' ? this.#request.path : join(this.#request.path, parent.slice(0, -1));
    try {
      return (await this.#ctx.files.statEntries?.(directory, names)) ?? [];
    } catch {
      throwIfAborted(this.#ctx);
      // Each entry then reports its own error.
      return [];
    }
  }

  async #descend(directory: ListEntry, shown: boolean): Promise<boolean> {
    const { path, depth } = directory;
    let children: readonly DirectoryEntry[];
    try {
      children = await this.#ctx.files.list(join(this.#request.path, path));
    } catch (error) {
      throwIfAborted(this.#ctx);
      const failed = unreadableDirectory(directory, error);
      if (!shown) return this.#add(failed);
      this.entries[this.entries.length - 1] = failed;
      return true;
    }
    return this.enter(children, `${path}/`, depth + 1);
  }

  #add(entry: ListEntry): boolean {
    if (this.entries.length >= this.#request.maxEntries) return false;
    this.entries.push(entry);
    return true;
  }
}

/**
 * The path for the file operations: below the requested path as written, so that it stays within the declared
 * effects.
 */
function join(root: string, path: string): string {
  if (root === '.') return path;
  return root.endsWith('/') ? root + path : `${root}/${path}`;
}

/** Why an entry could not be examined. */
export type EntryErrorCode =
  | 'metadata_unavailable'
  | 'permission_denied'
  | 'read_dir_failed'
  | 'io_error'
  | 'unknown';

/** One entry for the model; the key order is part of the format. */
export interface ListEntry {
  readonly name: string;
  /** Relative to the listed directory, `/` between names. */
  readonly path: string;
  /** Direct entries of the listed directory have depth 1. */
  readonly depth: number;
  readonly type: 'file' | 'dir' | 'symlink' | 'other' | 'unknown';
  readonly size_bytes: number | null;
  readonly modified_epoch_ms: number | null;
  readonly is_hidden: boolean;
  readonly error_code: EntryErrorCode | null;
  readonly error: string | null;
}

interface Found {
  readonly child: DirectoryEntry;
  readonly path: string;
  readonly depth: number;
}

/** An entry with its size and time. */
function describeEntry({ child, path, depth }: Found, stat: FileStat): ListEntry {
  return {
    name: child.name,
    path,
    depth,
    type: stat.type,
    size_bytes: stat.type === 'file' ? stat.size : null,
    modified_epoch_ms: modifiedEpochMs(stat),
    is_hidden: child.name.startsWith('.'),
    error_code: null,
    error: null,
  };
}

/** The same for an entry that was not examined yet; with type `unknown` and the reason if that fails. */
async function examineEntry(found: Found, location: string, ctx: ToolContext): Promise<ListEntry> {
  try {
    return describeEntry(found, await ctx.files.stat(location));
  } catch (error) {
    throwIfAborted(ctx);
    const { child, path, depth } = found;
    return {
      name: child.name,
      path,
      depth,
      type: 'unknown',
      size_bytes: null,
      modified_epoch_ms: null,
      is_hidden: child.name.startsWith('.'),
      error_code: statErrorCode(error),
      error: reasonOf(error),
    };
  }
}

/** A directory that could be examined but not read. */
function unreadableDirectory(directory: ListEntry, error: unknown): ListEntry {
  return { ...directory, type: 'unknown', error_code: 'read_dir_failed', error: reasonOf(error) };
}

/** Whole milliseconds, corrected for floating-point error. */
function modifiedEpochMs({ modifiedMs }: FileStat): number | null {
  return Number.isFinite(modifiedMs) ? Math.floor(modifiedMs + 0.001) : null;
}

function statErrorCode(error: unknown): EntryErrorCode {
  const errno = errnoOf(error);
  if (errno === 'EACCES' || errno === 'EPERM') return 'permission_denied';
  if (errno === 'EIO') return 'io_error';
  return 'metadata_unavailable';
}

function reasonOf(error: unknown): string {
  return errnoOf(error) ?? (error instanceof Error ? error.message : String(error));
}

/** Compares texts by their UTF-8 bytes. `<` compares UTF-16 units and would put U+1F600 before U+FFFD. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogates represent characters above all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
