import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addEntries, searchedTree } from '../fixtures/search-fixture.js';

it('five thousand files that match are read in order, whatever is asked of them', {
  timeout: 180_000,
}, async () => {
  const names = Array.from({ length: 5000 }, (_, at) => `d${at % 50}/f${at}.txt`);
  const { executor } = searchedTree(
    Object.fromEntries(names.map((name, at) => [name, `needle ${at}\nneedle\n`])),
    {
      output: { maxBytes: 10_000_000 },
    },
  );
  const sorted = [...names].sort();
  const all = { pattern: 'needle', head_limit: 20_000 };
  const paths = await executor.execute('grep', all);
  expect(paths.output.split('\n')).toEqual(sorted);
  const counts = await executor.execute('grep', { ...all, output_mode: 'count' });
  expect(counts.output.split('\n')).toEqual(sorted.map((name) => `${name}:2`));
  const lines = await executor.execute('grep', { ...all, output_mode: 'content' });
  expect(lines.output.split('\n')).toEqual(
    sorted.flatMap((name) => [`${name}:1:needle ${names.indexOf(name)}`, `${name}:2:needle`]),
  );
  expect(lines.truncated).toBe(false);
});

it('nothing from outside is named, shown or counted while directories are swapped for links', {
  timeout: 180_000,
}, async () => {
  const { executor, root, base } = searchedTree({
    'd/secret.txt': 'inside\n',
    f: 'inside\n',
    '../outside/secret.txt': 'OUTSIDE\nOUTSIDE\n',
    '../outside/only-outside': 'OUTSIDE\n',
  });
  for (let at = 0; at < 30; at++) addEntries(root, { [`d/file-${at}.txt`]: 'inside\n' });
  const swapper = fork(
    join(import.meta.dirname, '../../files/fixtures/swap-forever.mjs'),
    [root, join(base, 'outside')],
    {
      execArgv: [],
    },
  );
  await once(swapper, 'message');
  const met = { found: 0, refused: 0 };
  try {
    for (let turn = 0, end = performance.now() + 8000; turn < 400 && performance.now() < end; turn++) {
      const path = turn % 4 === 0 ? 'd' : '.';
      const mode = ['content', 'files_with_matches', 'count'][turn % 3] ?? 'count';
      const grep = await executor.execute('grep', { pattern: 'OUTSIDE|inside', output_mode: mode, path });
      const only = await executor.execute('grep', { pattern: 'OUTSIDE', output_mode: mode, path });
      const glob = await executor.execute('glob', { pattern: '**', path });
      for (const { success, output } of [grep, only, glob]) {
        expect(output).not.toMatch(/OUTSIDE|only-outside|:2$/m);
        met[success ? 'found' : 'refused']++;
      }
      if (only.success) expect(only.output).toMatch(/^no matches found/);
    }
    expect(swapper.exitCode).toBeNull();
  } finally {
    // Before the directory is removed: otherwise it would be filled again while it is emptied.
    swapper.kill('SIGKILL');
    await once(swapper, 'exit');
  }
  expect(met.found).toBeGreaterThan(10);
});
