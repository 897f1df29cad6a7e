import { LRUCache } from 'lru-cache';
import { withBase64Json } from '../../base/base64.js';
import { isWhole, normalizeOptions, type OptionRules, option } from '../../base/normalize-options.js';
import type { ToolResult } from '../../contract/call.js';
import type { Clock } from '../../contract/context.js';
import type { JsonObject } from '../../contract/json.js';
import type { CacheStats, ResultCache } from '../../contract/outputs.js';
import { hashArguments } from '../../schema/freeze-arguments.js';

export interface ResultCacheOptions {
  /** The number of results that are kept; the least recently used one is dropped first. Default 100. */
  readonly capacity?: number;
  /** Milliseconds until a result is dropped. Default 300000. */
  readonly ttlMs?: number;
}

export const CACHE_RULES: OptionRules<Required<ResultCacheOptions>> = {
  capacity: option(100, isWhole(1), 'a whole number of results from 1'),
  ttlMs: option(300_000, isWhole(1), 'a whole number of milliseconds from 1'),
};

/**
 * Creates a cache of results. The least recently used result is dropped first, and no result is kept longer
 * than `ttlMs` (C026, C027, C039).
 * @throws ToolError `config_invalid` for a wrong option.
 */
export function createResultCache(options?: ResultCacheOptions, clock?: Clock): ResultCache {
  return new LruResultCache(normalizeOptions('cache', options, CACHE_RULES), clock);
}

/** A cache that keeps nothing, for executors without a cache. */
export const NO_CACHE: ResultCache = Object.freeze({
  get: () => undefined,
  set() {},
  clear() {},
  stats: () => ({ hits: 0, misses: 0, evictions: 0, size: 0, capacity: 0, hitRate: 0 }),
});

export interface Entry {
  readonly result: ToolResult;
  /** Further conditions under which the entry is valid; undefined: none. */
  readonly state: unknown;
}

/** The same cache with a state for each result, for the executor. */
export class LruResultCache implements ResultCache {
  readonly #options: Required<ResultCacheOptions>;
  readonly #clock: Clock | undefined;
  #entries: LRUCache<string, Entry> | undefined;
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  constructor(options: Required<ResultCacheOptions>, clock: Clock | undefined) {
    this.#options = options;
    this.#clock = clock;
  }

  get(toolName: string, args: JsonObject): ToolResult | undefined {
    return this.find(toolName, args, () => true)?.result;
  }

  set(toolName: string, args: JsonObject, result: ToolResult): void {
    this.keep(toolName, args, { result, state: undefined });
  }

  clear(): void {
    this.#entries?.clear();
    this.#hits = this.#misses = this.#evictions = 0;
  }

  stats(): CacheStats {
    this.#entries?.purgeStale();
    const lookups = this.#hits + this.#misses;
    return {
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
      size: this.#entries?.size ?? 0,
      capacity: this.#options.capacity,
      hitRate: lookups === 0 ? 0 : this.#hits / lookups,
    };
  }

  /** Returns a copy of an entry that is still valid, and drops an invalid one. */
  find(toolName: string, args: JsonObject, holds: (entry: Entry) => boolean): Entry | undefined {
    const key = keyOf(toolName, args);
    const entry = this.#entries?.get(key);
    if (entry !== undefined && holds(entry)) {
      this.#hits++;
      return { result: cloneOf(entry.result), state: entry.state };
    }
    if (entry !== undefined) this.#entries?.delete(key);
    this.#misses++;
    return undefined;
  }

  keep(toolName: string, args: JsonObject, { result, state }: Entry): void {
    this.#opened().set(keyOf(toolName, args), { result: cloneOf(result), state });
  }

  forgetWhere(doubtful: (entry: Entry) => boolean): void {
    if (this.#entries === undefined) return;
    for (const [key, entry] of this.#entries.entries()) if (doubtful(entry)) this.#entries.delete(key);
  }

  #opened(): LRUCache<string, Entry> {
    this.#entries ??= new LRUCache<string, Entry>({
      max: this.#options.capacity,
      ttl: this.#options.ttlMs,
      ttlResolution: 0,
      dispose: (_entry, _key, reason) => {
        if (reason === 'evict') this.#evictions++;
      },
      ...(this.#clock === undefined ? {} : { perf: { now: () => this.#now() } }),
    });
    return this.#entries;
  }

  // The cache library reads a time of zero as "no time", so the clock never returns zero.
  #now(): number {
    return (this.#clock?.monotonic() ?? 0) + 1;
  }
}

/** A structured clone loses the way in which content bytes are written as JSON, so it is added again. */
function cloneOf(result: ToolResult): ToolResult {
  const clone = structuredClone(result);
  return clone.content === undefined ? clone : { ...clone, content: clone.content.map(withBase64Json) };
}

function keyOf(toolName: string, args: JsonObject): string {
  return `${toolName}\0${hashArguments(args)}`;
}
