import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { SearchScope, ToolSearch } from '../../contract/search.js';
import type { Tool } from '../../contract/tool.js';
import { eachOf } from '../../testing/fixtures/each-of.js';
import { defineTool } from '../declare/define-tool.js';
import { executorOf, folder } from '../fixtures/plan-fixture.js';
import { addEntries, searchedTree } from '../fixtures/search-fixture.js';

const SCOPE: SearchScope = { path: '.', includeHidden: false, includeIgnored: false };

/** The processes that work in a directory. */
function processesIn(root: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`).startsWith(root);
    } catch {
      return false;
    }
  });
}

/** Ripgrep opens every ignore file, and waits until something is written to this one. */
function addEndlessWait(root: string): void {
  mkdirSync(join(root, 'zzz'));
  execFileSync('mkfifo', [join(root, 'zzz', '.gitignore')]);
}

async function untilSearching(root: string): Promise<void> {
  for (let tries = 0; tries < 500 && processesIn(root).length === 0; tries++) await delay(10);
  expect(processesIn(root)).not.toEqual([]);
}

it.each([
  ['glob', { pattern: '**' }],
  ['grep', { pattern: 'x' }],
])('%s is ended at once when it is cancelled, and leaves no process', async (name, args) => {
  const { executor, root } = searchedTree({ 'a.txt': 'x\n' });
  addEndlessWait(root);
  const running = executor.start([{ id: '1', name, args }]);
  await untilSearching(root);
  const cancelledAt = performance.now();
  running.cancel('enough');
  const [result] = await running.results;
  expect(result).toMatchObject({ success: false, error: { code: 'cancelled' } });
  expect(performance.now() - cancelledAt).toBeLessThan(10_000);
  expect(processesIn(root)).toEqual([]);
});

it('a search that takes too long is answered with what it found, and leaves no process', async () => {
  const { executor, root } = searchedTree({ 'a.txt': 'x\n' }, { timeouts: { fileOperationsMs: 700 } });
  addEndlessWait(root);
  const result = await executor.execute('glob', { pattern: '**' });
  expect(result.error?.code).toBe('timeout');
  expect(result.output).toMatch(/stopped before the end/);
  expect(processesIn(root)).toEqual([]);
});

eachOf<[string]>([['glob'], ['grep']], 1)(
  '%s names an ignore file that cannot be read to its end, and goes on without',
  async (name) => {
    const { executor, root } = searchedTree({ 'a.txt': 'x\n', 'd/.gitignore': { link: '/dev/zero' } });
    for (const file of ['d/.gitignore', 'zzz/.gitignore']) {
      const startedAt = performance.now();
      const { error } = await executor.execute(name, { pattern: 'a*' });
      expect(error?.message).toContain(`Cannot search: the ignore file "${file}" is not a list of rules`);
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      expect(processesIn(root)).toEqual([]);
      rmSync(join(root, 'd/.gitignore'), { force: true });
      if (file.startsWith('d')) addEndlessWait(root);
    }
    const all = await executor.execute(name, { pattern: 'a*', include_ignored: true });
    expect(all.output).toBe('a.txt');
  },
);

it('nothing is searched once the call is cancelled', async () => {
  const { executor } = searchedTree({ 'a.txt': 'x\n' });
  const signal = AbortSignal.abort();
  const [result] = await executor.run([{ id: '1', name: 'grep', args: { pattern: 'x' } }], { signal });
  expect(result?.error?.code).toBe('cancelled');
});

it('many searches at once give each its own', { tags: ['soak'] }, async () => {
  const { executor } = searchedTree(
    Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at}/f${at}.txt`, `word${at}.\n`])),
    { limits: { maxToolCallsPerBatch: 80 } },
  );
  const calls = Array.from({ length: 40 }, (_, at) => ({
    id: `${at}`,
    name: 'grep',
    args: { pattern: `word${at}\\.`, output_mode: 'content' },
  }));
  const results = await executor.run(calls, { parallel: true });
  expect(results.map(({ output }) => output)).toEqual(calls.map((_, at) => `d${at}/f${at}.txt:1:word${at}.`));
});

it('hundreds of searches leave nothing open', { tags: ['soak'] }, async () => {
  const { executor } = searchedTree({ 'd/a.txt': 'x\n', '.gitignore': '/d/b\n' });
  const once = async (): Promise<void> => {
    await executor.execute('grep', { pattern: 'x', path: 'd' });
    await executor.execute('grep', { pattern: '(', path: 'd' });
    await executor.execute('glob', { pattern: '[', path: 'd' });
    await executor.execute('glob', { pattern: '*', path: 'd/a.txt' });
    await executor.execute('grep', { pattern: '(', path: 'd/a.txt' });
  };
  await once();
  const before = readdirSync('/proc/self/fd').length;
  for (let turn = 0; turn < 20; turn++) await once();
  expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 2);
});

it('no configuration, environment or file of the searched directory changes what is done', async () => {
  const { executor, root, base } = searchedTree({
    'a.txt': 'x\n',
    'b.md': 'x\n',
    '.ripgreprc': '--glob=!*.txt\n',
  });
  writeFileSync(join(base, 'rc'), `--pre=touch ${join(root, 'ran')}\n--glob=!*.txt\n`);
  process.env.RIPGREP_CONFIG_PATH = join(base, 'rc');
  onTestFinished(() => {
    delete process.env.RIPGREP_CONFIG_PATH;
  });
  expect((await executor.execute('grep', { pattern: 'x' })).output).toBe('a.txt\nb.md');
  expect(readdirSync(root).sort()).toEqual(['.ripgreprc', 'a.txt', 'b.md']);
});

it('a directory that is moved while it is searched is still the one that is searched', {
  tags: ['soak'],
}, async () => {
  const { executor, root, base } = searchedTree({ 'd/inside.txt': 'x\n', '../outside/secret.txt': 'x\n' });
  addEndlessWait(join(root, 'd'));
  const running = executor.start([{ id: '1', name: 'grep', args: { pattern: 'x', path: 'd' } }]);
  await untilSearching(root);
  renameSync(join(root, 'd'), join(root, 'moved'));
  symlinkSync(join(base, 'outside'), join(root, 'd'));
  // Lets it continue.
  rmSync(join(root, 'moved/zzz/.gitignore'));
  running.cancel();
  const [result] = await running.results;
  expect(result?.output).not.toContain('secret');
});

it('a tool searches only what it has declared, and only while its call lives', async () => {
  const root = folder();
  addEntries(root, { 'a/x.txt': 'x\n', 'b/x.txt': 'x\n' });
  let kept: ToolSearch | undefined;
  const tool: Tool = defineTool({
    name: 'look',
    description: 'searches',
    input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    effects: () => [{ kind: 'read', path: 'a' }],
    async execute({ path }, ctx) {
      kept = ctx.search;
      const found = await ctx.search.files({ ...SCOPE, path, pattern: '**', order: 'path', maxResults: 10 });
      return found.paths.join(' ');
    },
  });
  const executor = executorOf([tool], { root });
  expect((await executor.execute('look', { path: 'a' })).output).toBe('a/x.txt');
  for (const path of ['b', '.']) {
    expect((await executor.execute('look', { path })).error).toMatchObject({ code: 'sandbox_violation' });
  }
  await expect(
    kept?.files({ ...SCOPE, path: 'a', pattern: '**', order: 'path', maxResults: 1 }),
  ).rejects.toThrow(/its handles are dead/);
});
