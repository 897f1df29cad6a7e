import type { ToolResult } from './call.js';
import type { FileStat, ReadOptions } from './files.js';
import type { JsonObject } from './json.js';

/** Takes one output while it is produced. */
export interface OutputSink {
  /** Bytes from here on are kept; before, the sink holds what came until it is more than `holdBytes`. */
  push(chunk: Uint8Array): void | Promise<void>;
  /** Keeps also what is no more than `holdBytes`. */
  keep(): void;
  /** Where it can be read; undefined when it was too little to be kept, or could not be. */
  end(): Promise<string | undefined>;
}

/**
 * Untruncated outputs, under opaque URIs (F004). Each is kept up to a limit, all together too: then the oldest
 * make room.
 */
export interface OutputStore {
  /** Whether `path` is written as such a URI is: then it is no path of the file system. */
  owns(path: string): boolean;
  openSink(): OutputSink;
  /** Keeps a text, or bytes; undefined when it could not be kept. */
  save(content: string | Uint8Array): string | undefined;
  /** @throws ToolError `execution_failed` with `details.errno` `ENOENT` when it is no longer, or never was, kept. */
  stat(ref: string): Promise<FileStat>;
  read(ref: string, options?: ReadOptions): Promise<Uint8Array>;
  /** Deletes what is not meant to outlive its owner. */
  close(): Promise<void>;
}

export interface CacheStats {
  readonly hits: number;
  readonly misses: number;
  /** Entries that made room for others. */
  readonly evictions: number;
  readonly size: number;
  readonly capacity: number;
  /** Hits among all look-ups; 0 before the first. */
  readonly hitRate: number;
}

/** Results by tool and arguments (C026, C027, C039). The order of an object's properties makes no difference. */
export interface ResultCache {
  /** A copy of what was kept; undefined when there is nothing, or nothing young enough. Counts as a hit or a miss. */
  get(toolName: string, args: JsonObject): ToolResult | undefined;
  /** Keeps a copy. Failures are kept as well when the caller asks for it; the executor keeps successes only. */
  set(toolName: string, args: JsonObject, result: ToolResult): void;
  /** Forgets results and statistics. */
  clear(): void;
  stats(): CacheStats;
}
