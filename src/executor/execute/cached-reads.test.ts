import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import { builtinTools } from '../builtin-tools.js';
import { createExecutor } from '../create-executor.js';
import { defineTool } from '../declare/define-tool.js';
import type { ExecutorOptions } from '../executor-options.js';

let root: string;
let runs: number;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'toolexec-cache-'));
  runs = 0;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (name: string): string => join(root, name);

function cachingExecutor(options: ExecutorOptions = {}) {
  const readTwice = defineTool({
    name: 'counted_read',
    description: 'Reads, and counts how often it was asked.',
    input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    effects: (args) => [{ kind: 'read', path: (args as { path: string }).path }],
    cacheable: true,
    execute: async (args, { files }) => {
      runs++;
      const { path } = args as { path: string };
      const { type } = await files.stat(path);
      return type === 'dir' ? 'a directory' : Buffer.from(await files.read(path)).toString();
    },
  });
  return createExecutor({
    root,
    tools: [...builtinTools(), readTwice],
    policy: { denylist: [] },
    approver: null,
    sandbox: { allowAbsolute: true },
    ...options,
  });
}

const read = (executor: ReturnType<typeof cachingExecutor>, path = 'a.txt'): Promise<ToolResult> =>
  executor.execute('counted_read', { path });

describe('executor.cache', () => {
  it('answers with the picture that was read, and keeps no large one', async () => {
    await using executor = cachingExecutor();
    const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100)]);
    writeFileSync(at('a.png'), png);
    writeFileSync(at('large.png'), Buffer.concat([png, Buffer.alloc(1024 * 1024)]));
    const look = (path: string): Promise<ToolResult> => executor.execute('read_file', { path });
    const first = await look('a.png');
    const second = await look('a.png');
    expect([first.metadata.cached, second.metadata.cached]).toEqual([undefined, true]);
    expect(second.content).toEqual(first.content);
    expect(JSON.stringify(second)).toContain(png.toString('base64'));
    await look('large.png');
    expect((await look('large.png')).metadata.cached).toBeUndefined();
  });

  it('answers an identical read without running the tool, and says so', async () => {
    writeFileSync(at('a.txt'), 'one');
    await using executor = cachingExecutor();
    const first = await read(executor);
    const second = await read(executor);
    expect(runs).toBe(1);
    expect(second).toMatchObject({
      success: true,
      output: 'one',
      metadata: { cached: true },
      executionTimeMs: 0,
    });
    expect(second.callId).not.toBe(first.callId);
    expect(executor.cache.stats()).toMatchObject({ hits: 1, misses: 1, size: 1, capacity: 100 });
  });

  it('answers within a batch and over all names of a tool', async () => {
    writeFileSync(at('a.txt'), 'one');
    await using executor = cachingExecutor();
    const results = await executor.run([
      { id: '1', name: 'read_file', args: { path: 'a.txt' } },
      { id: '2', name: 'Read', args: { path: 'a.txt' } },
    ]);
    expect(results.map(({ callId, toolName, output }) => [callId, toolName, output])).toEqual([
      ['1', 'read_file', 'one'],
      ['2', 'Read', 'one'],
    ]);
    expect(executor.cache.stats().hits).toBe(1);
  });

  it('reads a file again that another program changed, even if size and modification time are the same', async () => {
    writeFileSync(at('a.txt'), 'one');
    await using executor = cachingExecutor();
    await read(executor);
    const { atime, mtime } = statSync(at('a.txt'));
    writeFileSync(at('a.txt'), 'two');
    utimesSync(at('a.txt'), atime, mtime);
    expect((await read(executor)).output).toBe('two');
    expect(runs).toBe(2);
  });

  it('reads a file again when a link leads elsewhere', async () => {
    mkdirSync(at('x'));
    writeFileSync(at('x/a'), 'one');
    writeFileSync(at('x/b'), 'two');
    symlinkSync('x/a', at('link'));
    await using executor = cachingExecutor();
    expect((await read(executor, 'link')).output).toBe('one');
    rmSync(at('link'));
    symlinkSync('x/b', at('link'));
    expect((await read(executor, 'link')).output).toBe('two');
  });

  it('reads a file again after its own write, append or command', async () => {
    writeFileSync(at('a.txt'), 'one');
    await using executor = cachingExecutor();
    await read(executor);
    await executor.execute('write_file', { path: 'a.txt', content: 'two', mode: 'overwrite' });
    expect(executor.cache.stats().size).toBe(0);
    expect((await read(executor)).output).toBe('two');
    await executor.execute('bash', { command: 'true' });
    expect(executor.cache.stats().size).toBe(0);
  });

  it('keeps what a write elsewhere does not touch', async () => {
    writeFileSync(at('a.txt'), 'one');
    await using executor = cachingExecutor();
    await read(executor);
    await executor.execute('write_file', { path: 'b.txt', content: 'two' });
    expect(executor.cache.stats().size).toBe(1);
  });

  it('keeps no failure, no directory and no read of another conversation', async () => {
    await using executor = cachingExecutor();
    expect((await read(executor, 'missing')).success).toBe(false);
    expect((await read(executor, '.')).output).toBe('a directory');
    expect((await read(executor, '.')).metadata).toEqual({ origin: ['workspace'] });
    expect(executor.cache.stats().size).toBe(0);
    writeFileSync(at('a.txt'), 'one');
    const call = { id: '1', name: 'counted_read', args: { path: 'a.txt' } };
    await executor.run([call], { conversation: 'x' });
    const [other] = await executor.run([call], { conversation: 'y' });
    expect(other?.metadata).toEqual({ origin: ['workspace'] });
  });

  it('asks the policy before it answers', async () => {
    writeFileSync(at('a.txt'), 'one');
    await using executor = cachingExecutor({ policy: { denylist: ['counted_read'] } });
    executor.cache.set('counted_read', { path: 'a.txt' }, await cachedResult());
    expect((await read(executor)).error?.code).toBe('denylisted');
  });

  it('passes a cached result through the middleware', async () => {
    writeFileSync(at('a.txt'), 'one');
    const seen: string[] = [];
    await using executor = cachingExecutor({
      middleware: [
        async (call, _context, next) => {
          const result = await next();
          seen.push(`${call.name} ${result.output}`);
          return result;
        },
      ],
    });
    await read(executor);
    expect((await read(executor)).output).toBe('one');
    expect(seen).toEqual(['counted_read one', 'counted_read one']);
    // The second answer came from the cache.
    expect(runs).toBe(1);
  });

  it('hands out a long binary file again without cutting it', async () => {
    writeFileSync(at('b.bin'), Buffer.alloc(3000));
    await using executor = cachingExecutor({
      output: { maxBytes: 5000 },
      middleware: [(_call, _context, next) => next()],
    });
    const first = await executor.execute('read_file', { path: 'b.bin' });
    const second = await executor.execute('read_file', { path: 'b.bin' });
    expect(second.metadata.cached).toBe(true);
    expect(second.output).toBe(first.output);
  });

  it('is not used for a call with its own budget', async () => {
    writeFileSync(at('a.txt'), 'x'.repeat(4000));
    await using executor = cachingExecutor();
    const call = (id: string) => [{ id, name: 'read_file', args: { path: 'a.txt' } }];
    const [small] = await executor.run(call('1'), { availableCapacityBytes: 1000 });
    const [whole] = await executor.run(call('2'));
    expect(small?.output.length).toBeLessThanOrEqual(1000);
    expect(whole?.output).toBe('x'.repeat(4000));
  });

  it('can be switched off, made small, cleared, and filled by the program', async () => {
    writeFileSync(at('a.txt'), 'one');
    await using off = cachingExecutor({ cache: false });
    await read(off);
    await read(off);
    expect(runs).toBe(2);
    expect(off.cache.stats()).toEqual({ hits: 0, misses: 0, evictions: 0, size: 0, capacity: 0, hitRate: 0 });

    await using small = cachingExecutor({ cache: { capacity: 1, ttlMs: 60_000 } });
    await read(small);
    writeFileSync(at('b.txt'), 'two');
    await read(small, 'b.txt');
    expect(small.cache.stats()).toMatchObject({ size: 1, capacity: 1, evictions: 1 });
    small.cache.clear();
    expect(small.cache.stats().size).toBe(0);
    expect(small.cache.get('counted_read', { path: 'b.txt' })).toBeUndefined();
  });
});

async function cachedResult(): Promise<ToolResult> {
  await using executor = cachingExecutor();
  return read(executor);
}
