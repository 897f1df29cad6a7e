import type { ToolResult } from '../../contract/call.js';
import type { ConversationMemory } from '../../contract/context.js';
import { type Covers, conflicts, type PlacedEffect } from '../../effects/conflicts.js';
import { isUncut, markUncut } from '../answer/finalize.js';
import type { Entry, LruResultCache } from '../cache/create-result-cache.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import type { CallParts } from './tool-context.js';

/** A cached read stays valid as long as this state is unchanged. */
interface ReadState {
  readonly effects: readonly PlacedEffect[];
  /** A fingerprint of each file, from the file system. */
  readonly prints: readonly string[];
  /**
   * A read also marks the file as read in its conversation, so another conversation must read the file
   * itself.
   */
  readonly memory: ConversationMemory;
  readonly uncut: boolean;
}

/** A cached answer from the web stays valid for as long as the answer itself says. */
interface FreshState {
  readonly freshUntil: number;
  readonly memory: ConversationMemory;
  readonly uncut: boolean;
}

/** One call's access to the cache. Never throws. */
export interface CacheVisit {
  /** The answer of an earlier call. */
  readonly cached: ToolResult | undefined;
  /**
   * Stores the result, unless a file has changed since the visit began, and removes cached reads of paths
   * that the call changed.
   */
  update(result: ToolResult): void;
}

/** @param failed called if the cache fails; the call then only loses speed */
export function visitCache(parts: CallParts, failed: (error: unknown) => void): CacheVisit {
  const { cache, covers } = parts.scope.settings;
  const { ready } = parts;
  const isFetch = onlyFetches(ready);
  if (cache === null || ((isFetch || ready.onlyReads) && !isCacheable(parts))) return NO_VISIT;
  let kept: KeptRead | undefined;
  try {
    kept = isFetch ? lookUpFresh(cache, parts) : lookUp(cache, parts);
  } catch (error) {
    failed(error);
  }
  return {
    cached: kept?.cached,
    update(result) {
      try {
        kept?.keep(result);
        if (!isFetch && !ready.onlyReads) forgetWhatTouches(cache, ready.effects, covers);
      } catch (error) {
        failed(error);
      }
    },
  };
}

const NO_VISIT: CacheVisit = Object.freeze({ cached: undefined, update() {} });

interface KeptRead {
  readonly cached: ToolResult | undefined;
  keep(result: ToolResult): void;
}

/**
 * Whether a call's result can be cached. A result made for a limited context budget is not cached: it may not
 * fit another budget, or hold less than another budget allows.
 */
function isCacheable({ ready, scope }: CallParts): boolean {
  const isOffered = onlyFetches(ready) || (ready.tool.cacheable === true && ready.onlyReads);
  if (!isOffered || ready.effects.length === 0) return false;
  return scope.capacityBytes === Number.POSITIVE_INFINITY;
}

/**
 * Looks up a call (F017). This applies only to tools that declare themselves cacheable and whose effects are
 * all reads of regular files. A directory is read again each time, because no fingerprint shows whether a
 * file below it changed. The policy has already allowed the call.
 * @returns undefined if the call cannot use the cache
 */
function lookUp(cache: LruResultCache, parts: CallParts): KeptRead | undefined {
  if (!isCacheable(parts)) return undefined;
  const { ready, scope } = parts;
  const { memory, settings } = scope;
  const { fingerprint } = settings.sandbox;
  const before = printsOf(ready, fingerprint);
  if (before === undefined) return undefined;
  const { name } = ready.tool;
  const { args } = ready.call;
  const found = cache.find(name, args, ({ state }) => holds(state, before, memory));
  return {
    cached: found === undefined ? undefined : asAnswer(found, ready),
    keep(result) {
      const after = printsOf(ready, fingerprint);
      if (
        !result.success ||
        bytesOfContent(result) > MOST_CONTENT_BYTES ||
        after === undefined ||
        !isSame(before, after)
      )
        return;
      const state: ReadState = { effects: ready.effects, prints: before, memory, uncut: isUncut(result) };
      cache.keep(name, args, { result, state });
    },
  };
}

/** Whether a call only fetches from the web. Such a call changes no file, so it invalidates no cached read. */
function onlyFetches({ effects }: ReadyCall): boolean {
  return effects.length > 0 && effects.every(({ effect }) => effect.kind === 'fetch');
}

/**
 * Looks up an answer from the web. It is kept for as long as the answer itself says
 * (`metadata.fresh_seconds`).
 */
function lookUpFresh(cache: LruResultCache, { ready, scope }: CallParts): KeptRead {
  const { memory, settings } = scope;
  const { name } = ready.tool;
  const { args } = ready.call;
  const now = settings.clock.monotonic();
  const found = cache.find(
    name,
    args,
    ({ state }) => isFreshState(state) && state.memory === memory && now < state.freshUntil,
  );
  return {
    cached: found === undefined ? undefined : asAnswer(found, ready),
    keep(result) {
      const { fresh_seconds: seconds } = result.metadata;
      const isKept = result.success && typeof seconds === 'number' && seconds > 0;
      if (!isKept || bytesOfContent(result) > MOST_CONTENT_BYTES) return;
      // The time counts from the start of the call, because the answer may be that old.
      const state: FreshState = { freshUntil: now + seconds * 1_000, memory, uncut: isUncut(result) };
      cache.keep(name, args, { result, state });
    },
  };
}

/**
 * The limit for the content of one cached result: a hundred results of the largest size would fill the
 * memory.
 */
const MOST_CONTENT_BYTES = 1024 * 1024;

function bytesOfContent({ content = [] }: ToolResult): number {
  return content.reduce((sum, block) => sum + ('data' in block ? (block.data?.length ?? 0) : 0), 0);
}

/** Removes every cached read that a call's changes may have invalidated. */
function forgetWhatTouches(cache: LruResultCache, effects: readonly PlacedEffect[], covers: Covers): void {
  cache.forgetWhere(({ state }: Entry) => isReadState(state) && conflicts(state.effects, effects, covers));
}

function printsOf(
  { effects }: ReadyCall,
  fingerprint: ((path: string) => string | undefined) | undefined,
): readonly string[] | undefined {
  const prints: string[] = [];
  for (const { at } of effects) {
    const print = at === undefined ? undefined : fingerprint?.(at);
    if (print === undefined) return undefined;
    prints.push(print);
  }
  return prints;
}

function isReadState(state: unknown): state is ReadState {
  return typeof state === 'object' && state !== null && 'prints' in state;
}

function isFreshState(state: unknown): state is FreshState {
  return typeof state === 'object' && state !== null && 'freshUntil' in state;
}

function holds(state: unknown, prints: readonly string[], memory: ConversationMemory): boolean {
  return isReadState(state) && state.memory === memory && isSame(state.prints, prints);
}

function isSame(before: readonly string[], after: readonly string[]): boolean {
  return before.length === after.length && before.every((print, at) => print === after[at]);
}

/** Adapts a cached result to this call: its id, the name it was called by, and zero execution time. */
function asAnswer({ result, state }: Entry, { call }: ReadyCall): ToolResult {
  const metadata = { ...result.metadata, cached: true };
  const answer = { ...result, callId: call.id, toolName: call.name, executionTimeMs: 0, metadata };
  return (isReadState(state) || isFreshState(state)) && state.uncut ? markUncut(answer) : answer;
}
