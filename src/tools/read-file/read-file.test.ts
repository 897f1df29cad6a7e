import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextLimits } from '../../contract/context.js';
import { filesRead } from '../files-read.js';
import { accepts, callTool, failureOf } from '../fixtures/call-tool.js';
import { type RealContext, realContext } from '../fixtures/real-context.js';
import { type ReadFileArgs, readFileTool } from './read-file.js';

const tool = readFileTool();
const FOUR = 'one\ntwo\nthree\nfour\n';

function withFile(content: string | Uint8Array, limits: Partial<ContextLimits> = {}): RealContext {
  const ctx = realContext({ limits });
  writeFileSync(join(ctx.root, 'f'), content);
  return ctx;
}

async function read(ctx: RealContext, args: Omit<ReadFileArgs, 'path'> = {}): Promise<string> {
  return (await callTool(tool, { path: 'f', ...args }, ctx)).text;
}

describe('read_file of a whole file', () => {
  test.each([
    ['nothing', ''],
    ['no final newline', 'a\nb'],
    ['CRLF', 'a\r\nb\r\n'],
    ['a byte order mark', '\ufeffhi\n'],
    ['characters of two, three and four bytes', 'é€😀'],
  ])('gives text with %s unchanged', async (_, content) => {
    expect(await read(withFile(content))).toBe(content);
  });

  test('returns path, size and hash', async () => {
    const ctx = withFile('x');
    const { metadata, truncatable } = await callTool(tool, { path: './f' }, ctx);
    expect(truncatable).toBe(true);
    expect(metadata).toEqual({
      path: join(ctx.root, 'f'),
      encoding: 'utf-8',
      bytes_read: 1,
      total_bytes: 1,
      sha256: '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881',
    });
  });

  test('accepts a file of exactly the limit, and refuses one byte more with a hint to line ranges', async () => {
    expect(await read(withFile('a'.repeat(50), { maxFileReadBytes: 50 }))).toHaveLength(50);
    const error = await failureOf(() => read(withFile('a'.repeat(51), { maxFileReadBytes: 50 })));
    expect(error.code).toBe('execution_failed');
    expect(error.message).toContain('too large');
    expect(error.message).toContain('51 bytes');
    expect(error.message).toContain('start_line');
  });

  test('is limited by the remaining capacity, if that is smaller', async () => {
    const error = await failureOf(() => read(withFile('a'.repeat(101), { availableCapacityBytes: 100 })));
    expect(error.message).toContain('101 bytes (max: 100 bytes)');
  });

  test('distinguishes a missing file from a directory', async () => {
    const ctx = realContext();
    mkdirSync(join(ctx.root, 'f'));
    expect((await failureOf(() => read(ctx))).message).toContain('path is a directory, not a file');
    const missing = await failureOf(() => callTool(tool, { path: 'no/such.txt' }, ctx));
    expect(missing.code).toBe('execution_failed');
    expect(missing.message).toBe('file not found: no/such.txt');
  });

  test('leaves a sandbox violation unchanged', async () => {
    const error = await failureOf(() => callTool(tool, { path: '../x' }, realContext()));
    expect(error.code).toBe('sandbox_violation');
  });
});

describe('read_file of lines', () => {
  test.each<[Omit<ReadFileArgs, 'path'>, string]>([
    [{ start_line: 2, end_line: 3 }, 'two\nthree\n'],
    [{ start_line: 1, end_line: 1 }, 'one\n'],
    [{ end_line: 2 }, 'one\ntwo\n'],
    [{ start_line: 3 }, 'three\nfour\n'],
    [{ start_line: 4, end_line: 99 }, 'four\n'],
    [{ start_line: 5 }, ''],
    [{ start_line: 99, end_line: 100 }, ''],
  ])('gives %j with both ends included', async (args, expected) => {
    expect(await read(withFile(FOUR), args)).toBe(expected);
  });

  test('ends lines at LF only', async () => {
    const second = { start_line: 2, end_line: 2 };
    expect(await read(withFile('a\u2028b\u0085c\u000bd\re\nsecond\n'), second)).toBe('second\n');
    expect(await read(withFile('a\r\nb\r\nc'), second)).toBe('b\r\n');
    expect(await read(withFile('\ufeffa\nb'), { end_line: 1 })).toBe('\ufeffa\n');
    expect(await read(withFile('a\nlast'), second)).toBe('last');
  });

  test('finds a small range in a file over the read limit', async () => {
    const lines = Array.from({ length: 3000 }, (_, i) => `${i + 1}`.padEnd(99, '.'));
    const ctx = withFile(`${lines.join('\n')}\n`);
    expect(await read(ctx, { start_line: 10, end_line: 11 })).toBe(`${lines[9]}\n${lines[10]}\n`);
    expect(await read(ctx, { start_line: 3000 })).toBe(`${lines[2999]}\n`);
  });

  test('scans exactly up to the limit, and not a byte further', async () => {
    const ctx = withFile('12345\n789\n', { maxReadFileScanBytes: 6 });
    expect(await read(ctx, { end_line: 1 })).toBe('12345\n');
    const error = await failureOf(() => read(ctx, { end_line: 2 }));
    expect(error.code).toBe('execution_failed');
    expect(error.message).toMatch(/scan limit of 6 bytes/);
    expect(error.message).toMatch(/narrow the range/i);
  });

  test('accepts a file that ends exactly at the scan limit', async () => {
    expect(await read(withFile('ab\ncd\n', { maxReadFileScanBytes: 6 }), { start_line: 2 })).toBe('cd\n');
    expect(await read(withFile('ab\ncd', { maxReadFileScanBytes: 5 }), { start_line: 2 })).toBe('cd');
    const tooFar = withFile('ab\ncd\n', { maxReadFileScanBytes: 5 });
    await expect(read(tooFar, { start_line: 2 })).rejects.toThrow(/scan limit/);
  });

  test('stops at the end of its range in a file over the scan limit', async () => {
    const ctx = withFile('first\nsecond\n');
    truncateSync(join(ctx.root, 'f'), 3 * 1024 * 1024);
    expect(await read(ctx, { end_line: 2 }).catch((e: Error) => e.message)).toContain('binary');
    writeFileSync(join(ctx.root, 'f'), `first\nsecond\n${'x'.repeat(3 * 1024 * 1024)}`);
    expect(await read(ctx, { end_line: 2 })).toBe('first\nsecond\n');
    await expect(read(ctx, { end_line: 3 })).rejects.toThrow(/narrow the range/i);
  });

  test('returns the same lines as splitting the text at every LF', async () => {
    const ctx = realContext();
    const line = fc.string({ unit: fc.constantFrom('a', '\n', '\r', 'é', '😀', '\u2028'), maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(line, fc.nat(12), fc.nat(12), async (content, skip, more) => {
        writeFileSync(join(ctx.root, 'f'), content);
        const lines = content.split(/(?<=\n)/);
        const got = await read(ctx, { start_line: skip + 1, end_line: skip + 1 + more });
        expect(got).toBe(lines.slice(skip, skip + more + 1).join(''));
      }),
      { numRuns: 200 },
    );
  });

  test('refuses them for a binary file', async () => {
    const error = await failureOf(() => read(withFile('ab\0cd\n'), { start_line: 1 }));
    expect(error.code).toBe('bad_args');
    const late = Buffer.concat([Buffer.from(`${'a'.repeat(9000)}\n`), Buffer.from([0xff, 0x0a])]);
    expect((await failureOf(() => read(withFile(late), { start_line: 2 }))).code).toBe('bad_args');
    expect(await read(withFile(late), { end_line: 1 })).toHaveLength(9001);
  });
});

describe('read_file of bytes', () => {
  test.each<[Omit<ReadFileArgs, 'path'>, string]>([
    [{ limit: 5 }, '01234'],
    [{ offset: 5 }, '56789'],
    [{ offset: 2, limit: 3 }, '234'],
    [{ limit: 100 }, '0123456789'],
    [{ offset: 10 }, ''],
    [{ offset: 99, limit: 1 }, ''],
  ])('gives %j', async (args, expected) => {
    const { text, metadata } = await callTool(tool, { path: 'f', ...args }, withFile('0123456789'));
    expect(text).toBe(expected);
    expect(metadata?.bytes_read).toBe(expected.length);
  });

  test('limits a slice by its own size, not by the file', async () => {
    const ctx = withFile(`${'a'.repeat(500)}tail`, { maxFileReadBytes: 50 });
    expect(await read(ctx, { offset: 500 })).toBe('tail');
    expect(await read(ctx, { offset: 1, limit: 50 })).toHaveLength(50);
    await expect(read(ctx, { limit: 51 })).rejects.toThrow(/too large/);
    await expect(read(ctx, { offset: 1 })).rejects.toThrow(/too large/);
    expect(await read(ctx, { offset: 454, limit: 1000 })).toHaveLength(50);
  });

  test('reads far into a huge file', async () => {
    const ctx = withFile('');
    const file = join(ctx.root, 'f');
    writeFileSync(file, `${'a'.repeat(9000)}`);
    truncateSync(file, 5 * 1024 ** 3);
    writeFileSync(file, 'the end', { flag: 'a' });
    expect(await read(ctx, { offset: 5 * 1024 ** 3, limit: 7 })).toBe('the end');
    expect(filesRead(ctx.memory).size).toBe(0);
  });

  test('returns slices that join to the whole file, whatever the characters', async () => {
    const ctx = realContext();
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.integer({ min: 1, max: 9 }),
        async (raw, step) => {
          const content = raw.replaceAll('\0', '');
          const size = Buffer.byteLength(content);
          writeFileSync(join(ctx.root, 'f'), content);
          let joined = '';
          for (let offset = 0; offset < size; offset += step)
            joined += await read(ctx, { offset, limit: step });
          expect(joined).toBe(Buffer.from(content).toString('utf8'));
        },
      ),
    );
  });
});

describe('read_file of a binary file', () => {
  test('returns base64 after a header, and the executor must not cut it', async () => {
    const { text, truncatable, metadata } = await callTool(tool, { path: 'f' }, withFile('ab\0cd'));
    expect(text).toBe('[binary:base64]\nYWIAY2Q=');
    expect(truncatable).toBe(false);
    expect(metadata).toMatchObject({ encoding: 'base64', bytes_read: 5, truncated: false });
  });

  test.each([
    ['a NUL as the last sniffed byte', Buffer.concat([Buffer.alloc(8191, 97), Buffer.from([0])]), true],
    ['a NUL just beyond', Buffer.concat([Buffer.alloc(8192, 97), Buffer.from([0])]), false],
    ['bytes that are no UTF-8', Buffer.from([0x63, 0x61, 0x66, 0xe9]), true],
    ['an unfinished character at its end', Buffer.from([0x61, 0xe2, 0x82]), true],
    ['bad bytes beyond the sniffed ones', Buffer.concat([Buffer.alloc(9000, 97), Buffer.from([0xff])]), true],
    ['an encoded surrogate', Buffer.from([0xed, 0xa0, 0x80]), true],
    ['an overlong slash', Buffer.from([0xc0, 0xaf]), true],
  ])('recognises %s', async (_, bytes, binary) => {
    expect((await read(withFile(bytes))).startsWith('[binary:base64]')).toBe(binary);
  });

  test.each([8189, 8190, 8191])(
    'recognises text if a character crosses the border at byte %i',
    async (before) => {
      const content = `${'a'.repeat(before)}😀 and on`;
      expect(await read(withFile(content))).toBe(content);
      expect(await read(withFile(content), { start_line: 1 })).toBe(content);
    },
  );

  test('stays within the output limit, with complete groups of base64', async () => {
    const bytes = Buffer.alloc(300, 0);
    for (const maxOutputBytes of [0, 5, 26, 27, 30, 31, 100, 300, 415, 416, 417]) {
      const { text, metadata } = await callTool(tool, { path: 'f' }, withFile(bytes, { maxOutputBytes }));
      expect(text.length).toBeLessThanOrEqual(maxOutputBytes);
      expect(metadata?.truncated).toBe(maxOutputBytes < 416);
      if (maxOutputBytes >= 31 && maxOutputBytes < 416) {
        expect(text).toMatch(/^\[binary:base64\]\[truncated\]\n(AAAA)+$/);
      }
    }
  });

  test('is not refused for its size', async () => {
    const { text, metadata } = await callTool(tool, { path: 'f' }, withFile(Buffer.alloc(2 * 1024 * 1024)));
    expect(text.startsWith('[binary:base64][truncated]\nAAAA')).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(102_400);
    expect(metadata).toMatchObject({ truncated: true, total_bytes: 2 * 1024 * 1024 });
  });

  test('gives slices of bytes', async () => {
    expect(await read(withFile('ab\0cd'), { offset: 1, limit: 3 })).toBe('[binary:base64]\nYgBj');
  });
});

describe('read_file remembers', () => {
  test.each<Omit<ReadFileArgs, 'path'>>([{}, { start_line: 2, end_line: 2 }, { offset: 3, limit: 2 }])(
    'the hash of the whole content after %j, under the canonical path',
    async (args) => {
      const ctx = realContext();
      mkdirSync(join(ctx.root, 'd'));
      writeFileSync(join(ctx.root, 'd/f.txt'), FOUR);
      symlinkSync('d/f.txt', join(ctx.root, 'lnk'));
      await callTool(readFileTool({ now: () => 42 }), { path: 'lnk', ...args }, ctx);
      const sha256 = createHash('sha256').update(FOUR).digest('hex');
      expect([...filesRead(ctx.memory)]).toEqual([[join(ctx.root, 'd/f.txt'), { sha256, at: 42 }]]);
    },
  );

  test('nothing after a failed read', async () => {
    const ctx = withFile('a'.repeat(100), { maxFileReadBytes: 10 });
    await failureOf(() => read(ctx));
    expect(filesRead(ctx.memory).size).toBe(0);
  });

  test('content of several chunks', async () => {
    const content = Buffer.alloc(1_000_003, 'line\n');
    const ctx = withFile(content);
    await read(ctx, { start_line: 2, end_line: 2 });
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect(filesRead(ctx.memory).get(join(ctx.root, 'f'))).toEqual({ sha256 });
  });
});

describe('the declaration of read_file', () => {
  test.each([
    [{}, false],
    [{ path: '' }, false],
    [{ path: ' ' }, false],
    [{ path: 5 }, false],
    [{ path: 'f', start_line: -1 }, false],
    [{ path: 'f', start_line: 0 }, false],
    [{ path: 'f', start_line: 1.5 }, false],
    [{ path: 'f', start_line: '2' }, false],
    [{ path: 'f', end_line: 2 ** 32 }, false],
    [{ path: 'f', offset: -1 }, false],
    [{ path: 'f', limit: 0 }, false],
    [{ path: 'f', other: 1 }, false],
    [{ path: 'f', start_line: 1, end_line: 2 ** 32 - 1 }, true],
    [{ path: 'f', offset: 0, limit: 1 }, true],
  ])('its schema checks %j', (args, ok) => {
    expect(accepts(tool, args)).toBe(ok);
  });

  test.each<Omit<ReadFileArgs, 'path'>>([
    { start_line: 3, end_line: 2 },
    { start_line: 1, limit: 5 },
    { end_line: 1, offset: 0 },
  ])('planning refuses %j', async (args) => {
    const error = await failureOf(() => tool.effects?.({ path: 'f', ...args }, { cwd: '/' }));
    expect(error.code).toBe('bad_args');
  });

  test('declares a read of its path, and names the path', () => {
    expect(tool.effects?.({ path: 'a/b' }, { cwd: '/' })).toEqual([{ kind: 'read', path: 'a/b' }]);
    expect(tool.summarize?.({ path: 'f' })).toBe('Read f');
    expect(tool.summarize?.({ path: 'f', start_line: 2, end_line: 3 })).toBe('Read f lines 2-3');
    expect(tool.summarize?.({ path: 'f', start_line: 2 })).toBe('Read f lines 2-');
    expect(tool.summarize?.({ path: 'f', offset: 10, limit: 5 })).toBe('Read f bytes 10-14');
    expect(tool.aliases).toEqual(['Read', 'file_read']);
  });

  test('stops when the call is cancelled, in a file that it reads in several pieces', async () => {
    const abort = new AbortController();
    const ctx = realContext({ signal: abort.signal });
    writeFileSync(join(ctx.root, 'f'), 'x'.repeat(20_000));
    abort.abort();
    expect((await failureOf(() => read(ctx, { start_line: 1 }))).code).toBe('cancelled');
  });
});
