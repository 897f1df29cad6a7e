import { linkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtinTools } from '../builtin-tools.js';
import type { ExecutorOptions } from '../executor-options.js';
import { executorOf, folder } from '../fixtures/plan-fixture.js';
import { addEntries } from '../fixtures/search-fixture.js';

const CALLS = [
  ['read_file', { path: 'hard' }],
  ['edit_file', { file_path: 'hard', old_string: 'needle', new_string: 'x' }],
  ['write_file', { path: 'hard', content: 'x', mode: 'overwrite' }],
  ['write_file', { path: 'hard', content: 'x', mode: 'append' }],
  ['apply_patch', { patch: 'LP1\nF hard\nT\nx\n.\nEND\n' }],
  ['grep', { pattern: 'needle', path: 'hard' }],
] as const;

describe('a root that refuses files with several names', () => {
  function linked() {
    const base = folder();
    addEntries(base, { 'root/own.txt': 'needle\n', 'root/sub/own.txt': 'needle\n', outside: 'needle\n' });
    linkSync(join(base, 'outside'), join(base, 'root/hard'));
    linkSync(join(base, 'outside'), join(base, 'root/sub/hard'));
    const root = { path: join(base, 'root'), hardLinks: 'refuse' } as const;
    return executorOf(builtinTools(), { root, policy: null, approver: null });
  }

  it.each(CALLS)('%s %j is refused before anybody is asked', async (name, args) => {
    const executor = linked();
    const { calls } = await executor.plan([{ id: '1', name, args }]);
    expect(calls[0]).toMatchObject({
      disposition: 'pre_resolved',
      result: { error: { code: 'sandbox_violation', details: { rule: 'hardLinks' } } },
    });
    const { error } = await executor.execute(name, args);
    expect(error?.message).toContain('refuses such files');
    expect(error?.hint).toContain('"refuse" as sandbox.hardLinks');
  });

  it.each(['files_with_matches', 'content', 'count'])('is searched without them: %s', async (output_mode) => {
    const { output } = await linked().execute('grep', { pattern: 'needle', output_mode });
    expect(output.split('\n').map((line) => line.split(':')[0])).toEqual(['own.txt', 'sub/own.txt']);
  });

  it('lists and names them all the same', async () => {
    const executor = linked();
    expect((await executor.execute('glob', { pattern: '**/hard' })).output).toBe('hard\nsub/hard');
    expect((await executor.execute('list_directory', { path: '.' })).output).toContain('"name":"hard"');
  });
});

it('a root that allows files with several names is searched with them, even inside one that refuses them', async () => {
  const base = folder();
  addEntries(base, { 'outer/own.txt': 'needle\n', 'outer/inner/own.txt': 'needle\n', outside: 'needle\n' });
  linkSync(join(base, 'outside'), join(base, 'outer/hard'));
  linkSync(join(base, 'outside'), join(base, 'outer/inner/hard'));
  const search = (options: ExecutorOptions) =>
    executorOf(builtinTools(), { policy: null, ...options }).execute('grep', { pattern: 'needle' });
  const outer = join(base, 'outer');
  expect((await search({ root: outer })).output).toBe('hard\ninner/hard\ninner/own.txt\nown.txt');
  const mixed = [
    { path: outer, hardLinks: 'refuse' },
    { path: join(outer, 'inner'), hardLinks: 'allow' },
  ] as const;
  expect((await search({ root: mixed })).output).toBe('inner/hard\ninner/own.txt\nown.txt');
});

it('links are listed as links, wherever they lead', async () => {
  const root = folder();
  for (const [name, target] of [
    ['in', 'file'],
    ['out', '/etc'],
    ['nowhere', 'none'],
  ] as const)
    symlinkSync(target, join(root, name));
  const executor = executorOf(builtinTools(), { root });
  const { entries } = JSON.parse((await executor.execute('list_directory', { path: '.' })).output) as {
    entries: readonly { readonly name: string; readonly type: string; readonly error: unknown }[];
  };
  expect(entries.map(({ name, type, error }) => [name, type, error])).toEqual([
    ['in', 'symlink', null],
    ['nowhere', 'symlink', null],
    ['out', 'symlink', null],
  ]);
});

it('the leftovers of a killed write are neither listed nor found', async () => {
  const root = folder();
  const leftover = `.toolexec-a${'0'.repeat(36)}.tmp`;
  addEntries(root, { '.hidden': 'needle\n', [leftover]: 'needle\n', [`d/${leftover}`]: 'needle\n' });
  writeFileSync(join(root, '.toolexec-0000000000000000.tmp'), 'needle\n');
  const executor = executorOf(builtinTools(), { root, sandbox: { includeDefaultDenies: false } });
  const all = { include_hidden: true, include_ignored: true };
  expect((await executor.execute('glob', { pattern: '**', ...all })).output).toBe('.hidden');
  expect((await executor.execute('glob', { pattern: '**/.toolexec-*' })).output).toBe('no matches found');
  expect((await executor.execute('grep', { pattern: 'needle', ...all })).output).toBe('.hidden');
  const listed = await executor.execute('list_directory', {
    path: '.',
    recursive: true,
    include_hidden: true,
  });
  expect(listed.output).not.toContain('toolexec');
});
