import type { ToolResult } from './call.js';
import type { FileStat, ReadOptions } from './files.js';
import type { JsonObject } from './json.js';

/** Receives one output while it is produced. */
export interface OutputSink {
  /** Adds bytes. The sink holds up to `holdBytes` in memory before it stores them. */
  push(chunk: Uint8Array): void | Promise<void>;
  /** Stores the output even if it is not larger than `holdBytes`. */
  keep(): void;
  /**
   * Ends the output and returns its URI; undefined if it was too small to be stored, or could not be stored.
   */
  end(): Promise<string | undefined>;
}

/**
 * Full outputs under opaque URIs (F004). Each output and their sum have a size limit; the oldest are dropped
 * first.
 */
export interface OutputStore {
  /** Whether `path` has the form of such a URI and is therefore not a file path. */
  owns(path: string): boolean;
  openSink(): OutputSink;
  /** Stores a text or bytes; undefined if that failed. */
  save(content: string | Uint8Array): string | undefined;
  /**
   * @throws ToolError `execution_failed` with `details.errno` `ENOENT` if the output was not stored, or no longer is.
   */
  stat(ref: string): Promise<FileStat>;
  read(ref: string, options?: ReadOptions): Promise<Uint8Array>;
  /** Deletes the outputs that must not outlive the store's owner. */
  close(): Promise<void>;
}

export interface CacheStats {
  readonly hits: number;
  readonly misses: number;
  /** Entries that were dropped to make room. */
  readonly evictions: number;
  readonly size: number;
  readonly capacity: number;
  /** Hits divided by look-ups; 0 before the first look-up. */
  readonly hitRate: number;
}

/** Results by tool and arguments (C026, C027, C039). The order of an object's properties does not matter. */
export interface ResultCache {
  /** A copy of the stored result; undefined if there is none or it has expired. Counts as a hit or a miss. */
  get(toolName: string, args: JsonObject): ToolResult | undefined;
  /** Stores a copy. Failures can be stored too; the executor stores only successes. */
  set(toolName: string, args: JsonObject, result: ToolResult): void;
  /** Deletes results and statistics. */
  clear(): void;
  stats(): CacheStats;
}
