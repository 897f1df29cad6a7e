import type { ToolContext } from '../../contract/context.js';
import type { DirectoryEntry } from '../../contract/files.js';
import { ToolError } from '../../errors/tool-error.js';
import { errnoOf } from '../errno-of.js';
import { throwIfAborted, yieldToLoop } from '../yield-to-loop.js';
import { compareCodePoints } from './compare-code-points.js';
import { examineEntry, unreadableDirectory } from './examine-entry.js';
import type { ListEntry } from './list-entry.js';
import type { ListRequest } from './list-request.js';

export interface Walk {
  /** In the order of the walk. */
  readonly entries: readonly ListEntry[];
  /** There are more than `max_entries`. */
  readonly more: boolean;
}

/**
 * Walks depth first, parents before children, each directory by name, and stops at the first entry too many.
 * @throws ToolError `execution_failed` when the directory itself is missing, none, or cannot be read.
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

const YIELD_EVERY_ENTRIES = 64;

class Walker {
  readonly entries: ListEntry[] = [];
  readonly #request: ListRequest;
  readonly #ctx: ToolContext;
  #seen = 0;

  constructor(request: ListRequest, ctx: ToolContext) {
    this.#request = request;
    this.#ctx = ctx;
  }

  /** False when the walk stopped because there is no room for a further entry. */
  async enter(children: readonly DirectoryEntry[], parent: string, depth: number): Promise<boolean> {
    const visible = children.filter(({ name }) => this.#request.hidden || !name.startsWith('.'));
    for (const child of visible.sort((a, b) => compareCodePoints(a.name, b.name))) {
      if (++this.#seen % YIELD_EVERY_ENTRIES === 0) await yieldToLoop(this.#ctx);
      if (!(await this.#visit(child, parent, depth))) return false;
    }
    return true;
  }

  async #visit(child: DirectoryEntry, parent: string, depth: number): Promise<boolean> {
    const descends = child.type === 'dir' && depth < this.#request.maxDepth;
    // What is neither shown nor entered is not worth a look at the disk.
    if (child.type !== 'unknown' && !descends && !this.#request.types[child.type]) return true;
    const path = parent + child.name;
    const entry = await examineEntry(child, path, depth, join(this.#request.path, path), this.#ctx);
    const shown = entry.type === 'unknown' || this.#request.types[entry.type];
    if (shown && !this.#add(entry)) return false;
    if (entry.type !== 'dir' || depth >= this.#request.maxDepth) return true;
    return this.#descend(entry, shown);
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

/** What the files are asked for: below the request as it was written, so that it stays within what was declared. */
function join(root: string, path: string): string {
  if (root === '.') return path;
  return root.endsWith('/') ? root + path : `${root}/${path}`;
}
