import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import type { Clock } from '../../contract/context.js';
import { isToolError } from '../../errors/tool-error.js';
import { createResultCache } from './create-result-cache.js';

const result = (output: string): ToolResult => ({
  callId: 'c',
  toolName: 'read_file',
  success: true,
  output,
  truncated: false,
  executionTimeMs: 1,
  metadata: { lines: [1, 2] },
});

describe('createResultCache()', () => {
  it('counts hits, misses and the rate between them', () => {
    const cache = createResultCache();
    expect(cache.stats()).toEqual({ hits: 0, misses: 0, evictions: 0, size: 0, capacity: 100, hitRate: 0 });
    expect(cache.get('read_file', { path: 'a' })).toBeUndefined();
    cache.set('read_file', { path: 'a' }, result('x'));
    expect(cache.get('read_file', { path: 'a' })).toEqual(result('x'));
    expect(cache.stats()).toEqual({ hits: 1, misses: 1, evictions: 0, size: 1, capacity: 100, hitRate: 0.5 });
  });

  it('tells tools and arguments apart, and not the order of properties', () => {
    const cache = createResultCache();
    cache.set('grep', { pattern: 'x', path: 'src' }, result('found'));
    expect(cache.get('grep', { path: 'src', pattern: 'x' })?.output).toBe('found');
    expect(cache.get('glob', { path: 'src', pattern: 'x' })).toBeUndefined();
    cache.set('read_file', { a: [1, 2] }, result('y'));
    expect(cache.get('read_file', { a: [2, 1] })).toBeUndefined();
  });

  it('makes room for what is new by what was not asked for the longest', () => {
    const cache = createResultCache({ capacity: 2 });
    cache.set('t', { k: 1 }, result('1'));
    cache.set('t', { k: 2 }, result('2'));
    expect(cache.get('t', { k: 1 })?.output).toBe('1');
    cache.set('t', { k: 3 }, result('3'));
    expect(cache.get('t', { k: 2 })).toBeUndefined();
    expect(cache.get('t', { k: 1 })?.output).toBe('1');
    expect(cache.stats()).toMatchObject({ evictions: 1, size: 2, capacity: 2 });
  });

  it('counts nothing as evicted that is replaced or forgotten', () => {
    const cache = createResultCache({ capacity: 2 });
    cache.set('t', { k: 1 }, result('1'));
    cache.set('t', { k: 1 }, result('new'));
    expect(cache.get('t', { k: 1 })?.output).toBe('new');
    expect(cache.stats()).toMatchObject({ evictions: 0, size: 1 });
  });

  it('forgets what is too old', () => {
    let now = 0;
    const clock: Clock = { now: () => now, monotonic: () => now, after: () => () => {} };
    const cache = createResultCache({ ttlMs: 1000 }, clock);
    cache.set('t', {}, result('x'));
    now = 999;
    expect(cache.get('t', {})?.output).toBe('x');
    now = 1001;
    expect(cache.stats().size).toBe(0);
    expect(cache.get('t', {})).toBeUndefined();
  });

  it('keeps copies and hands out copies', () => {
    const cache = createResultCache();
    const kept = result('x');
    cache.set('t', {}, kept);
    Object.assign(kept.metadata, { lines: 'changed' });
    const first = cache.get('t', {});
    Object.assign(first?.metadata ?? {}, { lines: 'changed' });
    expect(cache.get('t', {})).toEqual(result('x'));
  });

  it('clears results and statistics', () => {
    const cache = createResultCache();
    cache.set('t', {}, result('x'));
    cache.get('t', {});
    cache.clear();
    expect(cache.stats()).toEqual({ hits: 0, misses: 0, evictions: 0, size: 0, capacity: 100, hitRate: 0 });
    expect(cache.get('t', {})).toBeUndefined();
  });

  it.each([{ capacity: 0 }, { capacity: 1.5 }, { ttlMs: 0 }, { size: 3 }, []])('refuses %j', (options) => {
    try {
      createResultCache(options as object);
      expect.unreachable();
    } catch (error) {
      expect(isToolError(error, 'config_invalid')).toBe(true);
    }
  });
});
