import type { JsonObject } from './json.js';
import type { ToolResult } from './result.js';

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
