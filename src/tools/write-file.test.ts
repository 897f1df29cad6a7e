import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../contract/json.js';
import { filesRead, sha256Of } from './files-read.js';
import { accepts, callTool, failureOf } from './fixtures/call-tool.js';
import { type RealContext, realContext } from './fixtures/real-context.js';
import { readFileTool } from './read-file/read-file.js';
import { type WriteFileArgs, writeFileTool } from './write-file.js';

const tool = writeFileTool();

function contentOf(ctx: RealContext, path: string): string {
  return readFileSync(join(ctx.root, path), 'utf8');
}

describe('write_file', () => {
  test('creates a file and says how many bytes it wrote', async () => {
    const ctx = realContext();
    const path = join(ctx.root, 't.txt');
    const output = await callTool(tool, { path, content: 'Hello, World!', mode: 'create' }, ctx);
    expect(output.text).toBe(`Successfully wrote 13 bytes to ${path}`);
    expect(output.metadata).toEqual({ path, bytes_written: 13, mode: 'create', created: true });
    expect(contentOf(ctx, 't.txt')).toBe('Hello, World!');
  });

  test('creates the file and missing parents by default, and counts bytes', async () => {
    const ctx = realContext();
    const output = await callTool(tool, { path: 'a/b/c.txt', content: 'é😀' }, ctx);
    expect(output.text).toBe('Successfully wrote 6 bytes to a/b/c.txt');
    expect(output.metadata?.mode).toBe('create');
    expect(contentOf(ctx, 'a/b/c.txt')).toBe('é😀');
  });

  test('writes an empty file, and line ends and marks unchanged', async () => {
    const ctx = realContext();
    await callTool(tool, { path: 'empty', content: '' }, ctx);
    expect(contentOf(ctx, 'empty')).toBe('');
    await callTool(tool, { path: 'odd', content: '\ufeffa\r\nb\0\n' }, ctx);
    expect(contentOf(ctx, 'odd')).toBe('\ufeffa\r\nb\0\n');
  });

  test('does not overwrite a file by default', async () => {
    const ctx = realContext();
    writeFileSync(join(ctx.root, 'f'), 'old');
    const error = await failureOf(() => callTool(tool, { path: 'f', content: 'new' }, ctx));
    expect(error.code).toBe('execution_failed');
    expect(error.message).toMatch(/^file already exists: f\..*overwrite/);
    expect(contentOf(ctx, 'f')).toBe('old');
    const output = await callTool(tool, { path: 'f', content: 'new', mode: 'overwrite' }, ctx);
    expect(output.metadata).toMatchObject({ mode: 'overwrite', created: false, bytes_written: 3 });
    expect(contentOf(ctx, 'f')).toBe('new');
  });

  test('appends, and creates a missing file', async () => {
    const ctx = realContext();
    writeFileSync(join(ctx.root, 'f'), 'line1\n');
    const output = await callTool(tool, { path: 'f', content: 'line2\n', mode: 'append' }, ctx);
    expect(output.metadata).toMatchObject({ mode: 'append', created: false, bytes_written: 6 });
    expect(contentOf(ctx, 'f')).toBe('line1\nline2\n');
    for (const mode of ['append', 'overwrite'] as const) {
      const fresh = await callTool(tool, { path: `new-${mode}`, content: 'x', mode }, ctx);
      expect(fresh.metadata).toMatchObject({ mode, created: true });
    }
  });

  test('accepts 10 MiB, and refuses a byte more before anything runs', async () => {
    const ctx = realContext();
    const most = 'a'.repeat(10_485_760);
    expect((await callTool(tool, { path: 'f', content: most }, ctx)).metadata?.bytes_written).toBe(
      10_485_760,
    );
    const args: WriteFileArgs = { path: 'g', content: `${most}a` };
    const planned = await failureOf(() => tool.effects?.(args, { cwd: ctx.cwd }));
    expect(planned.code).toBe('limit_exceeded');
    expect(planned.message).toBe('content too large: 10485761 bytes (max: 10485760 bytes)');
    expect((await failureOf(() => tool.execute(args, ctx))).code).toBe('limit_exceeded');
    expect(existsSync(join(ctx.root, 'g'))).toBe(false);
  });

  test('accepts arguments with 10 MiB of content in escaped form', () => {
    const escaped = JSON.stringify({ path: 'f', content: '\u0001'.repeat(10_485_760), mode: 'overwrite' });
    expect(tool.maxArgsBytes).toBeGreaterThanOrEqual(Buffer.byteLength(escaped));
  });

  test('reports that a directory cannot be written, and other failures', async () => {
    const ctx = realContext();
    mkdirSync(join(ctx.root, 'd'));
    writeFileSync(join(ctx.root, 'file'), '');
    for (const mode of ['create', 'overwrite', 'append'] as const) {
      const directory = await failureOf(() => callTool(tool, { path: 'd', content: '', mode }, ctx));
      expect(directory.message).toMatch(/^failed to write d: it is a directory/);
    }
    const below = await failureOf(() => callTool(tool, { path: 'file/x', content: '' }, ctx));
    expect(below.message).toMatch(/^failed to write file\/x: .*E(NOTDIR|EXIST)/);
    expect((await failureOf(() => callTool(tool, { path: '../x', content: '' }, ctx))).code).toBe(
      'sandbox_violation',
    );
  });

  test.each<[JsonObject, boolean]>([
    [{}, false],
    [{ path: 'n.txt' }, false],
    [{ content: 'x' }, false],
    [{ path: 1, content: 'x' }, false],
    [{ path: 'n.txt', content: 5 }, false],
    [{ path: '', content: 'x' }, false],
    [{ path: '  ', content: 'x' }, false],
    [{ path: 'n', content: 'x', mode: 'replace' }, false],
    [{ path: 'n', content: 'x', extra: 1 }, false],
    [{ path: 'n', content: '' }, true],
    [{ path: 'n', content: 'x', mode: 'append' }, true],
  ])('its schema checks %j', (args, ok) => {
    expect(accepts(tool, args)).toBe(ok);
  });

  test('declares a write of its path, and names the path', () => {
    expect(tool.effects?.({ path: 'p', content: '' }, { cwd: '/' })).toEqual([{ kind: 'write', path: 'p' }]);
    expect(tool.summarize?.({ path: 'p', content: 'é' })).toBe('Create p (2 bytes)');
    expect(tool.summarize?.({ path: 'p', content: '', mode: 'append' })).toBe('Append to p (0 bytes)');
    expect(tool.aliases).toEqual(['Write', 'file_write']);
  });
});

describe('write_file and what was read', () => {
  async function afterReading(content: string): Promise<RealContext> {
    const ctx = realContext();
    writeFileSync(join(ctx.root, 'f'), content);
    await callTool(readFileTool(), { path: 'f' }, ctx);
    return ctx;
  }
  const overwrite: WriteFileArgs = { path: 'f', content: 'mine', mode: 'overwrite' };

  test('overwrites a file that is unchanged since it was read, and a file that it wrote itself', async () => {
    const ctx = await afterReading('old');
    await callTool(tool, overwrite, ctx);
    await callTool(tool, { ...overwrite, content: 'mine too' }, ctx);
    expect(contentOf(ctx, 'f')).toBe('mine too');
  });

  test('refuses to overwrite a file that has changed since', async () => {
    const ctx = await afterReading('old');
    writeFileSync(join(ctx.root, 'f'), 'theirs');
    const error = await failureOf(() => callTool(tool, overwrite, ctx));
    expect(error.code).toBe('stale_file');
    expect(error.message).toContain('File content changed since last read');
    expect(contentOf(ctx, 'f')).toBe('theirs');
  });

  test('creates a file again if it was removed since', async () => {
    const ctx = await afterReading('old');
    rmSync(join(ctx.root, 'f'));
    await callTool(tool, overwrite, ctx);
    expect(contentOf(ctx, 'f')).toBe('mine');
  });

  test('knows the whole content after appending to a file that was read', async () => {
    const ctx = await afterReading('a');
    await callTool(tool, { path: 'f', content: 'b', mode: 'append' }, ctx);
    expect(filesRead(ctx.memory).get(join(ctx.root, 'f'))).toEqual({ sha256: sha256Of(Buffer.from('ab')) });
  });

  test('still counts a changed file as changed after appending to it', async () => {
    const ctx = await afterReading('a');
    writeFileSync(join(ctx.root, 'f'), 'theirs');
    await callTool(tool, { path: 'f', content: 'b', mode: 'append' }, ctx);
    expect((await failureOf(() => callTool(tool, overwrite, ctx))).code).toBe('stale_file');
  });

  test('does not count a file as read because it appended to it', async () => {
    const ctx = realContext();
    writeFileSync(join(ctx.root, 'f'), 'unseen');
    await callTool(tool, { path: 'f', content: 'b', mode: 'append' }, ctx);
    expect(filesRead(ctx.memory).size).toBe(0);
  });
});
