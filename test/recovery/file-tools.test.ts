import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../src/contract/call.js';
import type { RecoveredCall } from '../../src/contract/open-batch.js';
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
*** Add File: new
+new
*** Update File: b
@@
-two
+TWO
*** Delete File: gone
*** End Patch`;

function desk(): { readonly root: string; readonly journal: string } {
  const { root, journal } = newDesk();
  for (const [name, content] of Object.entries(NOTHING_DONE)) writeFileSync(join(root, name), content);
  chmodSync(join(root, 'gone'), 0o640);
  return { root, journal };
}

const reads = ['a', 'b', 'gone'].map((path) => call('read_file', { path }, `read ${path}`));

interface Case {
  readonly at: string;
  readonly nth?: number;
  readonly calls: readonly ToolCall[];
}

/** Kills a process at one moment, recovers, and returns the outcome of the last call and of the files. */
async function recoverAfter(killed: Case): Promise<{ last: RecoveredCall; files: Record<string, string> }> {
  const { root, journal } = desk();
  await runUntilKilled({ root, journal, conversation: 'c', ...killed });
  const executor = executorFor({ root, journal });
  const [batch] = await executor.recover();
  const last = batch?.calls.at(-1);
  if (last === undefined) throw new Error('Nothing was recovered.');
  expect(batch?.calls.map(({ callId }) => callId)).toEqual(killed.calls.map(({ id }) => id));
  expect(batch?.calls.every(({ result }) => result !== undefined)).toBe(true);
  const again = await executor.recover();
  expect(again.filter(({ waits }) => !waits)).toEqual([]);
  return { last, files: filesOf(root) };
}

const summary = ({ result }: RecoveredCall): unknown =>
  result?.success === true ? 'applied' : `${result?.error.code} ${String(result?.error.details?.executed)}`;

const NOTHING_DONE = { a: 'one\n', b: 'two\n', gone: 'gone\n' };

describe('what a killed process left', () => {
  const write = (mode: string): ToolCall =>
    call('write_file', { path: mode === 'create' ? 'x' : 'a', content: 'X', mode });
  const edit = call('edit_file', { path: 'a', old_string: 'one', new_string: 'X' });
  const after: Record<string, object> = {
    create: { ...NOTHING_DONE, x: 'X' },
    overwrite: { ...NOTHING_DONE, a: 'X' },
    append: { ...NOTHING_DONE, a: 'one\nX' },
  };

  // The moments around the change itself first.
  const moments: readonly (readonly [at: string, expected: string])[] = [
    ['before put', 'cancelled no'],
    ['after put', 'applied'],
    ['after accept', 'cancelled no'],
    ['before claim', 'cancelled no'],
    ['after claim', 'cancelled no'],
    ['before note', 'cancelled no'],
    ['after note', 'cancelled no'],
    ['before finish', 'applied'],
  ];
  const modes = ['create', 'overwrite', 'append'] as const;
  const kills = moments.flatMap(([at, expected], first) =>
    modes.map((_, turn): [string, string, string] => [modes[(first + turn) % 3] ?? 'create', at, expected]),
  );

  // Each moment once, and each mode several times.
  eachOf(someOf(kills, moments.length), 1)(
    'is settled by what the file says: %s, killed %s',
    async (mode, at, expected) => {
      const { last, files } = await recoverAfter({ at, calls: [write(mode)] });
      expect(summary(last)).toBe(expected);
      expect(files).toEqual(expected === 'applied' ? after[mode] : NOTHING_DONE);
    },
    90_000,
  );

  eachOf<[string, string, object]>(
    [
      ['after put', 'applied', { ...NOTHING_DONE, a: 'X\n' }],
      ['before put', 'cancelled no', NOTHING_DONE],
    ],
    1,
  )(
    'is told of an edit too: killed %s',
    async (at, expected, files) => {
      const found = await recoverAfter({ at, calls: [edit] });
      expect(summary(found.last)).toBe(expected);
      expect(found.files).toEqual(files);
      expect(found.last.result?.metadata).toMatchObject({
        recovered: true,
        settled_by: 'probe',
        evidence: {
          files: [expect.objectContaining({ state: expected === 'applied' ? 'after' : 'before' })],
        },
      });
    },
    90_000,
  );

  eachOf([[2], [1], [3]], 1)(
    'is put right between two renames: killed after step %i of a patch',
    async (nth) => {
      const { last, files } = await recoverAfter({
        at: 'after put',
        nth,
        calls: [...reads, call('apply_patch', { patch: PATCH })],
      });
      expect(summary(last)).toBe('cancelled no');
      expect(files).toEqual(NOTHING_DONE);
      expect(last.result?.metadata.evidence).toMatchObject({ rolled_back: true });
    },
    90_000,
  );

  it('is applied once the last file of a patch has been replaced', async () => {
    const calls = [...reads, call('apply_patch', { patch: PATCH })];
    const { last, files } = await recoverAfter({ at: 'after put', nth: 4, calls });
    expect(summary(last)).toBe('applied');
    expect(files).toEqual({ a: 'ONE\n', b: 'TWO\n', new: 'new\n' });
  });
});
