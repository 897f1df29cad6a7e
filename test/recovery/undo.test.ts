import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtinTools } from '../../src/executor/builtin-tools.js';
import { defineTool } from '../../src/executor/declare/define-tool.js';
import { openJournal } from '../../src/journal/open-journal.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { someOf } from '../../src/testing/fixtures/share-of-runs.js';
import { buildFirst } from '../cli/built-command.js';
import { call, executorFor, filesOf, newDesk, runUntilKilled } from './killed-run.js';

buildFirst();

const PATCH = `*** Begin Patch
*** Update File: a
@@
-one
+ONE
*** Add File: deep/er/new
+new
*** Delete File: gone
*** End Patch`;

const BEFORE = { a: 'one\n', gone: 'gone\n' };
const AFTER = { a: 'ONE\n', deep: '<directory>', 'deep/er': '<directory>', 'deep/er/new': 'new\n' };

/** A patch that was applied by a process that has ended. */
async function patched(): Promise<{ readonly root: string; readonly journal: string }> {
  const { root, journal } = newDesk();
  for (const [name, content] of Object.entries(BEFORE)) writeFileSync(join(root, name), content);
  const executor = executorFor({ root, journal });
  const reads = ['a', 'gone'].map((path) => call('read_file', { path }, `read ${path}`));
  const results = await executor.run([...reads, call('apply_patch', { patch: PATCH })], {
    conversation: 'c',
  });
  expect(results.map(({ success }) => success)).toEqual([true, true, true]);
  await executor.close();
  return { root, journal };
}

describe('an undo that is killed', () => {
  const kills: readonly [at: string, nth: number, expected: string, files: object][] = [
    ['after claim', 1, 'cancelled no', AFTER],
    ['after note', 2, 'cancelled no', AFTER],
    ['before put', 1, 'cancelled no', AFTER],
    ['after put', 1, 'cancelled no', AFTER],
    ['after put', 2, 'cancelled no', AFTER],
    ['after put', 3, 'applied', BEFORE],
    ['before finish', 1, 'applied', BEFORE],
  ];
  eachOf(someOf(kills, 4), 1)(
    'gets its outcome from its files, and is rolled back if it is half done: %s, time %i',
    async (at, nth, expected, files) => {
      const { root, journal } = await patched();
      await runUntilKilled({ root, journal, calls: [], undo: 'apply_patch', at, nth });
      // A tool of that name is something else: it is not asked, and not confused with an undo.
      const undo = defineTool({
        name: 'undo',
        description: 'd',
        input: { type: 'object' },
        execute: () => 'x',
      });
      const executor = executorFor({ root, journal, tools: [...builtinTools(), undo] });
      const [batch] = await executor.recover();
      const result = batch?.calls[0]?.result;
      expect(batch?.calls.map(({ toolName }) => toolName)).toEqual(['undo']);
      expect(
        result?.success === true
          ? 'applied'
          : `${result?.error.code} ${String(result?.error.details?.executed)}`,
      ).toBe(expected);
      expect(filesOf(root)).toEqual(files);
      const store = openJournal(journal);
      const patch = await store.find('c', 'apply_patch');
      const noted = (await store.notes(patch?.key ?? '')).filter(({ kind }) => kind === 'undo');
      await store.close();
      expect(noted).toHaveLength(expected === 'applied' ? 1 : 0);
      // In both cases the work can continue.
      if (expected !== 'applied') await executor.undo('apply_patch');
      else await executor.undo(batch?.calls[0]?.callId ?? '');
      expect(filesOf(root)).toEqual(expected === 'applied' ? AFTER : BEFORE);
    },
    60_000,
  );

  it('is unknown where a file is neither as before nor as after', async () => {
    const { root, journal } = await patched();
    await runUntilKilled({ root, journal, calls: [], undo: 'apply_patch', at: 'after put', nth: 1 });
    for (const name of Object.keys(BEFORE)) writeFileSync(join(root, name), 'mine');
    const [batch] = await executorFor({ root, journal }).recover();
    expect(batch?.calls[0]?.result?.error).toMatchObject({
      code: 'outcome_unknown',
      details: { executed: 'maybe' },
    });
    expect(filesOf(root)).toMatchObject({ a: 'mine', gone: 'mine' });
  });
});

describe('directories that a call has made', () => {
  const write = call('write_file', { path: 'deep/er/new', content: 'x' }, 'w');

  it('go with an undo, and come back with the undo of that', async () => {
    const { root, journal } = newDesk();
    const executor = executorFor({ root, journal });
    await executor.run([write]);
    const { undoId } = await executor.undo('w');
    expect(filesOf(root)).toEqual({});
    const again = await executor.undo(undoId ?? '');
    expect(filesOf(root)).toMatchObject({ 'deep/er/new': 'x' });
    await executor.undo(again.undoId ?? '');
    expect(filesOf(root)).toEqual({});
  });

  it('stay where there was one before, or where anything else is in it by now', async () => {
    const { root, journal } = newDesk();
    mkdirSync(join(root, 'deep'));
    const executor = executorFor({ root, journal });
    await executor.run([write]);
    await executor.undo('w');
    expect(filesOf(root)).toEqual({ deep: '<directory>' });
    await executor.run([{ ...write, id: 'w2' }]);
    writeFileSync(join(root, 'deep/er/mine'), 'mine');
    await executor.undo('w2');
    expect(filesOf(root)).toEqual({ deep: '<directory>', 'deep/er': '<directory>', 'deep/er/mine': 'mine' });
  });

  it('go with a change that was killed before it was made', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const { root, journal } = newDesk();
    await runUntilKilled({ root, journal, calls: [write], at: 'before put' });
    const [batch] = await executorFor({ root, journal }).recover();
    expect(batch?.calls[0]?.result?.error?.code).toBe('cancelled');
    expect(filesOf(root)).toEqual({});
  });
});
