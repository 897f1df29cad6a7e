import { execFileSync } from 'node:child_process';
import {
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextLimits } from '../../contract/context.js';
import type { ContainedFiles } from '../../contract/files.js';
import type { JsonObject } from '../../contract/json.js';
import { ToolError } from '../../errors/tool-error.js';
import { createExecutor } from '../../executor/create-executor.js';
import { accepts, callTool, failureOf } from '../fixtures/call-tool.js';
import { type RealContext, realContext } from '../fixtures/real-context.js';
import { listDirectoryTool } from './list-directory.js';
import type { ListDirectoryArgs } from './list-request.js';
import type { ListEntry } from './walk-directory.js';

const tool = listDirectoryTool();
const TIME = 1_700_000_000_000;

interface TestContextOptions {
  readonly limits?: Partial<ContextLimits>;
  readonly files?: (files: ContainedFiles) => ContainedFiles;
  readonly signal?: AbortSignal;
}

/** Paths ending in `/` are directories, `a -> b` is a link, others are files of the size after `:`. */
function withTree(tree: readonly string[], options: TestContextOptions = {}): RealContext {
  const ctx = realContext(options);
  for (const item of tree) {
    const [path = '', target] = item.split(' -> ');
    const [name = '', size = '1'] = path.split(':');
    const at = join(ctx.root, name);
    mkdirSync(join(at, name.endsWith('/') ? '.' : '..'), { recursive: true });
    if (target !== undefined) symlinkSync(target, at);
    else if (!name.endsWith('/')) writeFileSync(at, 'x'.repeat(Number(size)));
  }
  for (const path of readdirSync(ctx.root, { recursive: true, encoding: 'utf8' })) {
    lutimesSync(join(ctx.root, path), TIME / 1000, TIME / 1000);
  }
  return ctx;
}

interface Listing {
  readonly path: string;
  readonly entries: readonly ListEntry[];
  readonly returned: number;
  readonly max_entries: number;
  readonly truncated: boolean;
  readonly truncated_reason: string | null;
}

async function list(ctx: RealContext, args: Partial<ListDirectoryArgs> = {}, use = tool): Promise<Listing> {
  const { text, truncatable } = await callTool(use, { path: '.', ...args }, ctx);
  expect(truncatable).toBe(false);
  return JSON.parse(text) as Listing;
}

async function paths(ctx: RealContext, args: Partial<ListDirectoryArgs> = {}, use = tool): Promise<string[]> {
  return (await list(ctx, args, use)).entries.map(({ path }) => path);
}

function entryText(path: string, depth: number, type: string, size: number | null): string {
  const name = path.split('/').at(-1);
  return (
    `{"name":"${name}","path":"${path}","depth":${depth},"type":"${type}","size_bytes":${size},` +
    `"modified_epoch_ms":${TIME},"is_hidden":false,"error_code":null,"error":null}`
  );
}

const TREE = ['b.txt:3', 'a/z.txt:2', 'a/sub/deep.txt:1', 'a.txt:10', '.hid', '.git/HEAD', 'lnk -> a'];

describe('list_directory', () => {
  test('lists the children of a directory, in exactly this format', async () => {
    const { text } = await callTool(tool, { path: '.' }, withTree(TREE));
    const entries = [
      entryText('a', 1, 'dir', null),
      entryText('a.txt', 1, 'file', 10),
      entryText('b.txt', 1, 'file', 3),
      entryText('lnk', 1, 'symlink', null),
    ];
    expect(text).toBe(
      `{"path":".","entries":[${entries.join(',')}],"returned":4,"max_entries":200,"truncated":false,"truncated_reason":null}`,
    );
  });

  test('enters subdirectories, but neither hidden ones nor links', async () => {
    const ctx = withTree(TREE);
    const expected = ['a', 'a.txt', 'a/sub', 'a/sub/deep.txt', 'a/z.txt', 'b.txt', 'lnk'];
    expect(await paths(ctx, { recursive: true })).toEqual(expected);
    expect(await paths(ctx, { recursive: true, max_depth: 1 })).toEqual(['a', 'a.txt', 'b.txt', 'lnk']);
    expect(await paths(ctx, { recursive: true, max_depth: 2 })).not.toContain('a/sub/deep.txt');
    const hidden = await list(ctx, { recursive: true, include_hidden: true });
    expect(hidden.entries.map(({ path }) => path)).toEqual(['.git', '.git/HEAD', '.hid', ...expected]);
    expect(hidden.entries.map(({ is_hidden: is }) => is).slice(0, 4)).toEqual([true, false, true, false]);
  });

  test('returns depths, and paths relative to the requested directory', async () => {
    const { entries, path } = await list(withTree(TREE), { path: './a//./', recursive: true });
    expect(path).toBe('a');
    expect(entries.map((entry) => [entry.path, entry.depth])).toEqual([
      ['sub', 1],
      ['sub/deep.txt', 2],
      ['z.txt', 1],
    ]);
  });

  test('goes four levels deep by default', async () => {
    const ctx = withTree(['1/2/3/4/5/']);
    expect(await paths(ctx, { recursive: true })).toEqual(['1', '1/2', '1/2/3', '1/2/3/4']);
  });

  test.each<[Partial<ListDirectoryArgs>, string[]]>([
    [{ include_files: false }, ['d', 'l']],
    [{ include_dirs: false }, ['f', 'l']],
    [{ include_symlinks: false }, ['d', 'f']],
    [{ include_other: true }, ['d', 'f', 'l', 'p']],
    [{ recursive: true, include_dirs: false }, ['d/x', 'f', 'l']],
    [{ recursive: true, include_files: false, include_symlinks: false }, ['d']],
  ])('filters by type: %j', async (args, expected) => {
    const ctx = withTree(['d/x', 'f', 'l -> f']);
    execFileSync('mkfifo', [join(ctx.root, 'p')]);
    expect(await paths(ctx, args)).toEqual(expected);
  });

  test('lists a pipe as other, without a size', async () => {
    const ctx = withTree([]);
    execFileSync('mkfifo', [join(ctx.root, 'p')]);
    const { entries } = await list(ctx, { include_other: true });
    expect(entries).toMatchObject([{ name: 'p', type: 'other', size_bytes: null }]);
  });

  test('returns times in whole milliseconds', async () => {
    const ctx = withTree(['a']);
    for (const ms of [1_234_567_890_123, 1_700_000_000_001, 1, 999]) {
      lutimesSync(join(ctx.root, 'a'), ms / 1000, ms / 1000);
      expect((await list(ctx)).entries[0]?.modified_epoch_ms).toBe(ms);
    }
  });
});

describe('list_directory orders', () => {
  test('by path in the order of UTF-8, so other names may stand between a directory and its entries', async () => {
    const ctx = withTree(['a/x', 'a-b', 'a.b', 'a0', '\u{ff5e}', '\u{1f600}', 'Z', 'é', 'e']);
    const expected = ['Z', 'a', 'a-b', 'a.b', 'a/x', 'a0', 'e', 'é', '\u{ff5e}', '\u{1f600}'];
    expect(await paths(ctx, { recursive: true })).toEqual(expected);
  });

  test('the walk before it stops, not only the list: parents first, then by name', async () => {
    const ctx = withTree(['a/x', 'a/y', 'a.b']);
    expect(await paths(ctx, { recursive: true, max_entries: 3 })).toEqual(['a', 'a/x', 'a/y']);
  });
});

describe('list_directory names', () => {
  test('shows bytes that are not UTF-8 as replacement characters', async () => {
    const ctx = withTree(['ok']);
    writeFileSync(Buffer.concat([Buffer.from(`${ctx.root}/n`), Buffer.from([0xff, 0x21])]), 'x');
    const { entries } = await list(ctx);
    expect(entries.map(({ name }) => name)).toEqual(['n\ufffd!', 'ok']);
    expect(entries[0]).toMatchObject({
      type: 'unknown',
      error_code: 'metadata_unavailable',
      size_bytes: null,
    });
  });

  test('survive quotes, line breaks and control characters', async () => {
    const names = ['"q"', 'b\\s', 'c\u0085\u009b', 'd\u202e', 'l\nf', 't\t\u001b[31m', '\u007f'];
    const ctx = withTree([]);
    for (const name of names) writeFileSync(join(ctx.root, name), '');
    const { text } = await callTool(tool, { path: '.' }, ctx);
    const listing = JSON.parse(text) as Listing;
    expect(listing.entries.map(({ name }) => name).sort()).toEqual([...names].sort());
    expect(text).not.toMatch(/\p{Cc}|\u202e/u);
  });
});

describe('list_directory stops', () => {
  const five = ['f0', 'f1', 'f2', 'f3', 'f4'];

  test('at max_entries, and says so', async () => {
    const { returned, truncated, truncated_reason, max_entries } = await list(withTree(five), {
      max_entries: 3,
    });
    expect({ returned, truncated, truncated_reason, max_entries }).toEqual({
      returned: 3,
      truncated: true,
      truncated_reason: 'max_entries',
      max_entries: 3,
    });
  });

  test('not at exactly max_entries', async () => {
    expect(await list(withTree(five), { max_entries: 5 })).toMatchObject({
      returned: 5,
      truncated: false,
      truncated_reason: null,
    });
  });

  test('after counting only entries that pass the filters', async () => {
    const ctx = withTree(['.h1', '.h2', 'a', 'b', 'c/']);
    expect(await list(ctx, { max_entries: 2, include_dirs: false })).toMatchObject({
      returned: 2,
      truncated: false,
    });
  });

  test('after 200 entries of a huge directory', async () => {
    const ctx = withTree(Array.from({ length: 600 }, (_, i) => `f${String(i).padStart(4, '0')}`));
    const { entries, truncated_reason } = await list(ctx);
    expect(entries).toHaveLength(200);
    expect(entries.at(-1)?.name).toBe('f0199');
    expect(truncated_reason).toBe('max_entries');
  });

  test('when the call is cancelled, in the middle of a walk', async () => {
    const abort = new AbortController();
    const many = Array.from({ length: 50 }, (_, i) => [`d${i}/a`, `d${i}/b`, `d${i}/c`]).flat();
    let lists = 0;
    const ctx = withTree(many, {
      signal: abort.signal,
      files: (files) => ({
        ...files,
        list: (path) => {
          if (++lists === 5) setTimeout(() => abort.abort(), 0);
          return files.list(path);
        },
      }),
    });
    const error = await failureOf(() => list(ctx, { recursive: true }));
    expect(error.code).toBe('cancelled');
    expect(lists).toBeLessThan(51);
  });
});

describe('list_directory within its output budget', () => {
  const forty = Array.from({ length: 40 }, (_, i) => `file${String(i).padStart(3, '0')}.txt:${i}`);

  async function within(maxOutputBytes: number, tree: readonly string[] = forty) {
    const ctx = withTree(tree, { limits: { maxOutputBytes } });
    const { text } = await callTool(tool, { path: '.' }, ctx);
    return { bytes: Buffer.byteLength(text), listing: JSON.parse(text) as Listing };
  }

  test('drops nothing if it fits exactly, and one entry if a byte is missing', async () => {
    const whole = await within(1_000_000);
    expect(whole.bytes).toBe(6768);
    expect((await within(6768)).listing).toEqual(whole.listing);
    const { listing } = await within(6767);
    expect(listing).toMatchObject({ returned: 39, truncated: true, truncated_reason: 'max_output_bytes' });
    expect(listing.entries).toEqual(whole.listing.entries.slice(0, 39));
  });

  test('keeps as many entries as fit, from the start of the sorted list', async () => {
    const all = (await within(1_000_000)).listing.entries;
    for (const budget of [111, 112, 281, 282, 449, 450, 2000, 3333, 6000]) {
      const { bytes, listing } = await within(budget);
      expect(bytes).toBeLessThanOrEqual(budget);
      expect(listing.returned).toBe(listing.entries.length);
      expect(listing.truncated_reason).toBe('max_output_bytes');
      expect(listing.entries).toEqual(all.slice(0, listing.returned));
      const next = {
        ...listing,
        entries: all.slice(0, listing.returned + 1),
        returned: listing.returned + 1,
      };
      expect(Buffer.byteLength(JSON.stringify(next))).toBeGreaterThan(budget);
    }
  });

  test('refuses if not even an empty listing fits', async () => {
    expect((await within(111)).listing.entries).toEqual([]);
    const { text, error, truncatable } = await callTool(
      tool,
      { path: '.' },
      withTree(forty, { limits: { maxOutputBytes: 110 } }),
    );
    expect({ text, truncatable, code: error?.code }).toEqual({
      text: '',
      truncatable: false,
      code: 'execution_failed',
    });
    expect(error?.message).toContain('output budget too small: 110 bytes cannot hold');
  });

  test('says so in a whole sentence, even if there is little room', async () => {
    const root = mkdtempSync(join(tmpdir(), 'toolexec-list-'));
    const executor = createExecutor({ root, output: { maxBytes: 60 } });
    const said = 'list_directory failed: output budget too small: 60 bytes cannot hold even an empty listing';
    expect(await executor.execute('list_directory', { path: '.' })).toMatchObject({
      output: '',
      truncated: false,
      error: { code: 'execution_failed', message: said },
    });
    const [little] = await executor.run([{ id: 'a', name: 'list_directory', args: { path: '.' } }], {
      availableCapacityBytes: 20,
    });
    expect(little?.error?.message).toBe(said.replace('60', '20'));
    await executor.close();
    rmSync(root, { recursive: true });
  });

  test('counts bytes, not characters, and the smaller of limit and capacity', async () => {
    const tree = ['é'.repeat(80), '😀'.repeat(40)];
    const { bytes } = await within(1_000_000, tree);
    expect((await within(bytes - 1, tree)).listing.returned).toBe(1);
    const ctx = withTree(tree, { limits: { availableCapacityBytes: bytes - 1 } });
    expect((await list(ctx)).truncated_reason).toBe('max_output_bytes');
  });

  test('names the output as the reason even if entries were left out before', async () => {
    const ctx = withTree(forty, { limits: { maxOutputBytes: 2000 } });
    expect((await list(ctx, { max_entries: 30 })).truncated_reason).toBe('max_output_bytes');
  });
});

describe('list_directory reports what it cannot examine', () => {
  function refusing(operation: 'list' | 'stat', path: string, errno: string) {
    return (files: ContainedFiles): ContainedFiles => {
      const refuse = () =>
        Promise.reject(new ToolError('execution_failed', `no: ${errno}`, { details: { errno } }));
      if (operation === 'list') return { ...files, list: (at) => (at === path ? refuse() : files.list(at)) };
      return { ...files, stat: (at) => (at === path ? refuse() : files.stat(at)) };
    };
  }

  test('a directory that cannot be read becomes unknown and the walk continues', async () => {
    const ctx = withTree(['ok/x', 'no/y'], { files: refusing('list', 'no', 'EACCES') });
    const { entries } = await list(ctx, { recursive: true });
    expect(entries.map(({ path, type, error_code: code }) => [path, type, code])).toEqual([
      ['no', 'unknown', 'read_dir_failed'],
      ['ok', 'dir', null],
      ['ok/x', 'file', null],
    ]);
    expect(entries[0]?.error).toBe('EACCES');
    expect(await paths(ctx, { recursive: true, include_dirs: false })).toEqual(['no', 'ok/x']);
  });

  test.each([
    ['ENOENT', 'metadata_unavailable'],
    ['EACCES', 'permission_denied'],
    ['EIO', 'io_error'],
  ])('an entry that answers %s becomes unknown, %s', async (errno, code) => {
    const ctx = withTree(['a', 'b'], { files: refusing('stat', 'a', errno) });
    const { entries } = await list(ctx, { include_files: true });
    expect(entries).toMatchObject([
      { name: 'a', type: 'unknown', error_code: code, error: errno, modified_epoch_ms: null },
      { name: 'b', type: 'file', error_code: null },
    ]);
  });

  test('the requested directory is missing, not a directory, or outside the root', async () => {
    const ctx = withTree(['f', 'l -> f']);
    const missing = await failureOf(() => list(ctx, { path: 'nope' }));
    expect(missing).toMatchObject({ code: 'execution_failed' });
    for (const path of ['f', 'l']) {
      const none = await failureOf(() => list(ctx, { path }));
      expect(none).toMatchObject({ code: 'execution_failed' });
      expect(none.message).toContain('path is not a directory');
    }
    expect((await failureOf(() => list(ctx, { path: '../' }))).code).toBe('sandbox_violation');
  });
});

describe('the declaration of list_directory', () => {
  test.each<[JsonObject, boolean]>([
    [{}, false],
    [{ path: 5 }, false],
    [{ path: '' }, false],
    [{ path: ' \t' }, false],
    [{ path: '.', max_depth: 0 }, false],
    [{ path: '.', max_entries: 0 }, false],
    [{ path: '.', max_entries: 1.5 }, false],
    [{ path: '.', recursive: 'yes' }, false],
    [{ path: '.', sort: 'name' }, false],
    [{ path: '.', recursive: true, max_depth: 4, max_entries: 200, include_other: true }, true],
  ])('its schema checks %j', (args, ok) => {
    expect(accepts(tool, args)).toBe(ok);
  });

  test.each<Partial<ListDirectoryArgs>>([
    { max_depth: 2 },
    { recursive: false, max_depth: 4 },
    { recursive: true, max_depth: 5 },
    { max_entries: 201 },
    { include_files: false, include_dirs: false, include_symlinks: false },
    { include_files: false, include_dirs: false, include_symlinks: false, include_other: true },
  ])('planning refuses %j', async (args) => {
    const error = await failureOf(() => tool.effects?.({ path: '.', ...args }, { cwd: '/' }));
    expect(error.code).toBe('bad_args');
  });

  test('takes max_depth 1 without recursion', async () => {
    expect(await paths(withTree(TREE), { max_depth: 1 })).toHaveLength(4);
  });

  test('uses configured values as defaults and as maximums, which an argument may only lower', async () => {
    const small = listDirectoryTool({ maxEntries: 2, maxDepth: 2, includeHidden: true, includeFiles: false });
    const ctx = withTree(['.h/x/y', 'a/', 'f']);
    expect(await list(ctx, {}, small)).toMatchObject({ max_entries: 2, truncated: false });
    expect(await paths(ctx, { recursive: true }, small)).toEqual(['.h', '.h/x']);
    expect(await paths(ctx, { include_files: true, include_hidden: false }, small)).toEqual(['a', 'f']);
    expect((await failureOf(() => list(ctx, { max_entries: 3 }, small))).code).toBe('bad_args');
    expect((await failureOf(() => list(ctx, { recursive: true, max_depth: 3 }, small))).code).toBe(
      'bad_args',
    );
    for (const maxEntries of [0, -1, 1.5, Number.NaN]) {
      expect(() => listDirectoryTool({ maxEntries })).toThrow(/maxEntries/);
    }
  });

  test('names the path that it reads', () => {
    expect(tool.effects?.({ path: ' a//b/ ' }, { cwd: '/' })).toEqual([{ kind: 'read', path: 'a/b' }]);
    expect(tool.summarize?.({ path: 'a' })).toBe('List a');
    expect(tool.summarize?.({ path: 'a', recursive: true })).toBe('List a depth 4');
    expect(tool.summarize?.({ path: 'a', recursive: true, max_depth: 2 })).toBe('List a depth 2');
  });

  test.each([
    ['  a  ', 'a'],
    ['a//sub', 'a/sub'],
    ['./a/./sub/', 'a/sub'],
    ['./', '.'],
    ['.', '.'],
    ['a/..', 'a/..'],
    ['..', '..'],
    ['//x//', '/x'],
    ['/', '/'],
  ])('normalizes %j to %j', (path, expected) => {
    expect(tool.effects?.({ path }, { cwd: '/' })).toEqual([{ kind: 'read', path: expected }]);
  });
});
