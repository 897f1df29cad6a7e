import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Executor } from '../contract/executor.js';
import type { JsonObject } from '../contract/json.js';
import { type Entries, searchedTree } from '../executor/fixtures/search-fixture.js';
import { unprivileged } from '../platform/fixtures/unprivileged.js';

async function grep(executor: Executor, args: JsonObject): Promise<string[]> {
  const result = await executor.execute('grep', args);
  expect(result.error).toBeUndefined();
  return result.output === 'no matches found' ? [] : result.output.split('\n');
}

const lines = (executor: Executor, args: JsonObject): Promise<string[]> =>
  grep(executor, { output_mode: 'content', ...args });

const SEVEN = { 't.txt': 'line1\nline2\nline3\nTARGET\nline5\nline6\nline7\n' };

describe('grep', () => {
  it('returns the paths of matching files by default', async () => {
    const { executor } = searchedTree({ 'b/t.txt': 'package\n', 'a.txt': 'a package\n', 'c.txt': 'none\n' });
    expect(await grep(executor, { pattern: 'package' })).toEqual(['a.txt', 'b/t.txt']);
    expect(await grep(executor, { pattern: 'package', path: null })).toEqual(['a.txt', 'b/t.txt']);
    expect(await grep(executor, { pattern: 'package', path: 'b' })).toEqual(['b/t.txt']);
  });

  it('is also called Grep, needs no approval and only reads', async () => {
    const { executor } = searchedTree(SEVEN);
    const plan = await executor.plan([{ id: '1', name: 'Grep', args: { pattern: 'x', path: 't.txt' } }]);
    expect(plan.calls[0]).toMatchObject({
      disposition: 'execute_now',
      effects: [{ kind: 'read', path: 't.txt' }],
    });
    expect((await executor.execute('Grep', { pattern: 'TARGET' })).output).toBe('t.txt');
  });

  it.each([
    [{}, ['t.txt:4:TARGET']],
    [{ '-n': false }, ['t.txt:TARGET']],
    [{ '-A': 2 }, ['t.txt:4:TARGET', 't.txt-5-line5', 't.txt-6-line6']],
    [{ '-B': 1 }, ['t.txt-3-line3', 't.txt:4:TARGET']],
    [{ '-C': 1 }, ['t.txt-3-line3', 't.txt:4:TARGET', 't.txt-5-line5']],
    [{ '-C': 1, '-A': 0 }, ['t.txt-3-line3', 't.txt:4:TARGET']],
    [{ path: 't.txt' }, ['t.txt:4:TARGET']],
    [{ '-A': 2, '-n': false }, ['t.txt:TARGET', 't.txt-line5', 't.txt-line6']],
  ])('shows lines with %j as %j', async (args, expected) => {
    const { executor } = searchedTree(SEVEN);
    expect(await lines(executor, { pattern: 'TARGET', ...args })).toEqual(expected);
  });

  it('separates groups of lines, but only if it shows context lines', async () => {
    const { executor } = searchedTree({ a: 'x\n1\n2\n3\nx\n', b: 'x\n' });
    expect(await lines(executor, { pattern: 'x' })).toEqual(['a:1:x', 'a:5:x', 'b:1:x']);
    expect(await lines(executor, { pattern: 'x', '-A': 1 })).toEqual([
      ...['a:1:x', 'a-2-1', '--', 'a:5:x', '--', 'b:1:x'],
    ]);
  });

  it('counts the lines that match', async () => {
    const { executor } = searchedTree({ 'a.txt': 'x x\ny\nx\n', 'b.txt': 'x\n', 'c.txt': '' });
    const result = await executor.execute('grep', { pattern: 'x', output_mode: 'count' });
    expect(result).toMatchObject({ output: 'a.txt:2\nb.txt:1', metadata: { files: 2, matches: 3 } });
  });

  it('is case-sensitive by default', async () => {
    const { executor } = searchedTree({ 't.txt': 'Hello\nHELLO\nhello\n' });
    expect(await grep(executor, { pattern: 'hello', output_mode: 'count' })).toEqual(['t.txt:1']);
    expect(await grep(executor, { pattern: 'hello', output_mode: 'count', '-i': true })).toEqual(['t.txt:3']);
    expect(await grep(executor, { pattern: 'HELLO', output_mode: 'count' })).toEqual(['t.txt:1']);
  });

  it('matches across lines only if requested', async () => {
    const { executor } = searchedTree({ 't.txt': 'struct {\n  a\n}\nother\n' });
    const pattern = 'struct \\{.*?\\}';
    expect(await lines(executor, { pattern })).toEqual([]);
    expect(await lines(executor, { pattern, multiline: true })).toEqual([
      't.txt:1:struct {',
      't.txt:2:  a',
      't.txt:3:}',
    ]);
  });

  it.each([
    ['-e y', 'x -e y'],
    ['--files', '--files'],
    ['-', '-'],
    ['\\$\\(x\\)', '$(x)'],
    ['日本', '日本語'],
    ["';touch x;'", "';touch x;'"],
  ])('treats %j only as a pattern', async (pattern, text) => {
    const { executor } = searchedTree({ f: `before\n${text}\n` });
    expect(await lines(executor, { pattern })).toEqual([`f:2:${text}`]);
    expect(await lines(executor, { pattern, path: 'f' })).toEqual([`f:2:${text}`]);
  });

  it('finds files by glob and by type', async () => {
    const names = ['a.ts', 'b.js', 'src/c.ts', 'src/d/e.tsx', 'src/d/f.py', 'test/a.ts'];
    const { executor } = searchedTree(Object.fromEntries(names.map((name) => [name, 'x\n'])));
    const found = (args: JsonObject): Promise<string[]> => grep(executor, { pattern: 'x', ...args });
    expect(await found({ glob: '*.ts' })).toEqual(['a.ts', 'src/c.ts', 'test/a.ts']);
    expect(await found({ glob: '*.{ts,tsx}', path: 'src' })).toEqual(['src/c.ts', 'src/d/e.tsx']);
    expect(await found({ glob: 'src/*.ts' })).toEqual(['src/c.ts']);
    expect(await found({ glob: 'src/**/*.tsx' })).toEqual(['src/d/e.tsx']);
    expect(await found({ glob: '!src/d' })).toEqual(['a.ts', 'b.js', 'src/c.ts', 'test/a.ts']);
    expect(await found({ glob: '!*.ts' })).toEqual(['b.js', 'src/d/e.tsx', 'src/d/f.py']);
    expect(await found({ type: 'py' })).toEqual(['src/d/f.py']);
    expect(await found({ type: 'ts', glob: 'src/**' })).toEqual(['src/c.ts', 'src/d/e.tsx']);
  });

  it('does not include ignored or hidden files because of a glob or a type', { tags: ['soak'] }, async () => {
    const text = (...names: string[]): Entries => Object.fromEntries(names.map((name) => [name, 'x\n']));
    const { executor } = searchedTree({
      '.gitignore': 'dist\n*.gen.ts\n',
      ...text('a.ts', 'a.gen.ts', 'dist/b.ts', '.hidden.ts', '.d/c.ts', '.env.example'),
    });
    for (const args of [
      { glob: '*.ts' },
      { glob: '**' },
      { glob: '*' },
      { type: 'ts' },
      { glob: '**/*.ts' },
    ]) {
      expect(await grep(executor, { pattern: 'x', ...args })).toEqual(['a.ts']);
    }
    expect(await grep(executor, { pattern: 'x', glob: '.env.*' })).toEqual(['.env.example']);
    expect(await grep(executor, { pattern: 'x', include_ignored: true })).toEqual([
      'a.gen.ts',
      'a.ts',
      'dist/b.ts',
    ]);
    expect(await grep(executor, { pattern: 'x', include_hidden: true, type: 'ts' })).toEqual([
      ...['.d/c.ts', '.hidden.ts', 'a.ts'],
    ]);
  });

  it.each([
    ['(unclosed', /unclosed group/],
    ['a{2', /./],
    ['(?=look)', /look-around/],
    ['(a)\\1', /backreferences/],
    ['a\nb', /not allowed/],
    ['(((a{100}){100}){100}){100}', /size limit|too big/],
    ['x\0y', /NUL/],
  ])('explains what is wrong with %j', async (pattern, message) => {
    const { executor } = searchedTree(SEVEN);
    for (const path of ['.', 't.txt']) {
      const { error } = await executor.execute('grep', { pattern, path });
      expect(error?.code).toBe('bad_args');
      expect(error?.message).toMatch(message);
    }
  });

  it.each([
    [{ pattern: 'x', type: 'nosuch' }, 'bad_args', /unrecognized file type: nosuch/],
    [{ pattern: 'x', type: 'nosuch', path: 't.txt' }, 'bad_args', /unrecognized file type/],
    [{ pattern: 'x', glob: '[a' }, 'bad_args', /not closed/],
    [{ pattern: 'x', output_mode: 'weird' }, 'bad_args', /output_mode.*content.*files_with_matches.*count/],
    [{ pattern: 'x', '-A': -1 }, 'bad_args', /-A/],
    [{}, 'bad_args', /pattern/],
    [{ pattern: 'x', path: 'none/x' }, 'execution_failed', /path does not exist: none\/x/],
    [{ pattern: 'x', path: '../x' }, 'sandbox_violation', /never followed/],
    [{ pattern: 'x', path: '/etc/passwd' }, 'sandbox_violation', /outside the roots/],
  ] as const)('refuses %j with %s', async (args, code, message) => {
    const { executor } = searchedTree(SEVEN);
    const { error } = await executor.execute('grep', args);
    expect(error?.code).toBe(code);
    expect(error?.message).toMatch(message);
  });

  it('returns the first lines up to a limit, and the number of further ones', async () => {
    const { executor } = searchedTree({ a: 'x\n'.repeat(5), b: 'x\n', c: 'x\n' });
    const limited = (head_limit: number) =>
      executor.execute('grep', { pattern: 'x', output_mode: 'content', head_limit });
    expect(await limited(7)).toMatchObject({ truncated: false, metadata: { lines: 7, files: 3 } });
    expect(await limited(6)).toMatchObject({
      truncated: true,
      metadata: { lines: 6, files: 2, total_files: 3 },
    });
    const { output } = await limited(3);
    expect(output.split('\n')).toEqual([
      ...['a:1:x', 'a:2:x', 'a:3:x'],
      '[truncated at 3 lines] 2 more files match: narrow the search, or raise head_limit.',
    ]);
    const paths = await executor.execute('grep', { pattern: 'x', head_limit: 2 });
    expect(paths).toMatchObject({ truncated: true, metadata: { files: 2, total_files: 3 } });
    expect(paths.output).toMatch(/^a\nb\n\[truncated at 2 files\] 1 more file matches/);
  });

  it('returns only whole lines if the output is limited', async () => {
    const text = Array.from({ length: 200 }, (_, at) => `match ${at}`).join('\n');
    const { executor } = searchedTree({ a: text, b: text }, { output: { maxBytes: 600 } });
    const result = await executor.execute('grep', { pattern: 'match', output_mode: 'content' });
    expect(result.truncated).toBe(true);
    expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(600);
    const shown = result.output.split('\n');
    expect(shown.slice(0, -1)).toEqual(shown.slice(0, -1).map((_, at) => `a:${at + 1}:match ${at}`));
    expect(shown.length).toBeGreaterThan(20);
  });
});

describe('grep in files that are not plain text', () => {
  it('skips binary files, and reports a match in a named one', async () => {
    const { executor } = searchedTree({ 'b.bin': 'needle\0\x01\x02', 'a.txt': 'needle\n' });
    expect(await grep(executor, { pattern: 'needle' })).toEqual(['a.txt']);
    expect(await lines(executor, { pattern: 'needle' })).toEqual(['a.txt:1:needle']);
    expect(await lines(executor, { pattern: 'needle', path: 'b.bin' })).toEqual([
      'b.bin: binary file matches',
    ]);
  });

  it('reads UTF-16 and strange bytes, and leaves line ends out', async () => {
    const { executor, root } = searchedTree({ crlf: 'one needle\r\ntwo\r\n', last: 'needle' });
    writeFileSync(join(root, 'utf16'), Buffer.from('\ufeffgrün needle\n', 'utf16le'));
    writeFileSync(join(root, 'raw'), Buffer.concat([Buffer.from('needle '), Buffer.of(0xff, 0x0a)]));
    expect(await lines(executor, { pattern: 'needle' })).toEqual([
      ...['crlf:1:one needle', 'last:1:needle', 'raw:1:needle \ufffd', 'utf16:1:grün needle'],
    ]);
  });

  it('shortens lines that are megabytes long, in bounded memory', { tags: ['soak'] }, async () => {
    const { executor } = searchedTree({ 'min.js': `needle${'x'.repeat(20_000_000)}needle\nneedle\n` });
    const [long, short] = await lines(executor, { pattern: 'needle' });
    expect(long).toMatch(/^min\.js:1:needlex{1000,2000}.*\[\.\.\. /);
    expect(long?.length).toBeLessThan(2_200);
    expect(short).toBe('min.js:2:needle');
  });

  it('skips pipes, and refuses a named one', async () => {
    const { executor, root } = searchedTree({ 'a.txt': 'x\n' });
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(await grep(executor, { pattern: 'x' })).toEqual(['a.txt']);
    const { error } = await executor.execute('grep', { pattern: 'x', path: 'pipe' });
    expect(error?.message).toMatch(/not a regular file: pipe/);
  });

  it('names files that are hard to write in one line each', async () => {
    const { executor, root } = searchedTree({
      '-n': 'x\n',
      'a:1:b': 'x\n',
      'new\nline': 'x\n',
      [`${'y'.repeat(255)}`]: 'x\n',
    });
    mkdirSync(join(root, 'esc\x1b[2J'));
    writeFileSync(join(root, 'esc\x1b[2J', 'f'), 'x\n');
    writeFileSync(Buffer.concat([Buffer.from(`${root}/raw`), Buffer.of(0xff)]), 'x\n');
    expect(await lines(executor, { pattern: 'x' })).toEqual([
      ...[
        '-n:1:x',
        'a:1:b:1:x',
        '"esc\\u001b[2J/f":1:x',
        '"new\\nline":1:x',
        'raw\ufffd:1:x',
        `${'y'.repeat(255)}:1:x`,
      ],
    ]);
  });

  it('says that some files could not be read, and returns matches from the others', () =>
    unprivileged(async () => {
      const { executor, root } = searchedTree({ 'a.txt': 'x\n', 'closed.txt': 'x\n' });
      execFileSync('chmod', ['000', join(root, 'closed.txt')]);
      const result = await executor.execute('grep', { pattern: 'x' });
      expect(result).toMatchObject({ success: true, metadata: { incomplete: true } });
      expect(result.output).toMatch(/^a\.txt\n\[some files/);
    }));
});

describe('a file that grep never opens', () => {
  it('is what deny patterns name, in any case, however it is asked for', async () => {
    const { executor } = searchedTree(
      {
        'ok.txt': 'SECRET\n',
        ID_RSA: 'SECRET\n',
        'd/server.Pem': 'SECRET\n',
        '.env.local': 'SECRET\n',
        '.ssh/config': 'SECRET\n',
        'private/deep/x.txt': 'SECRET\n',
        'link.txt': { link: 'ID_RSA' },
      },
      { sandbox: { deniedPatterns: ['private/**'] } },
    );
    const wide = { pattern: 'SECRET', include_hidden: true, include_ignored: true };
    for (const output_mode of ['content', 'files_with_matches', 'count']) {
      const { output } = await executor.execute('grep', { ...wide, output_mode });
      expect(output.replace(/^ok\.txt(?::1)?(?::SECRET)?$/, '')).toBe('');
    }
    for (const glob of ['ID_RSA', '.env.*', '**/*.Pem', 'private/**', '.ssh/*']) {
      expect(await grep(executor, { ...wide, glob })).toEqual([]);
    }
    for (const path of ['ID_RSA', 'private', 'private/deep', '.ssh', 'link.txt', '.env.local']) {
      expect((await executor.execute('grep', { ...wide, path })).error?.code).toBe('sandbox_violation');
    }
  });
});
