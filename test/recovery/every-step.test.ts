import { chmodSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defineTool } from '../../src/executor/declare/define-tool.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { soakSize } from '../../src/testing/fixtures/soak-size.js';
import { buildFirst } from '../cli/built-command.js';
import { call, executorFor, isKilled, newDesk, runUntilKilled } from './killed-run.js';

buildFirst();

const PATCH = `*** Begin Patch
*** Update File: changed
@@
-one
+ONE
*** Update File: old
*** Move to: deep/er/moved
@@
-two
+TWO
*** Delete File: removed
*** End Patch`;

const patch = call('apply_patch', { patch: PATCH });

interface Place {
  readonly root: string;
  readonly journal: string;
}

function unpatched(): Place {
  const place = newDesk();
  for (const [name, content] of [
    ['changed', 'one\n'],
    ['old', 'two\n'],
    ['removed', 'three\n'],
  ] as const) {
    writeFileSync(join(place.root, name), content);
    chmodSync(join(place.root, name), 0o640);
  }
  return place;
}

/** A patch that was applied by a process that has ended. */
async function patched(): Promise<Place> {
  const place = unpatched();
  const executor = executorFor(place);
  const [result] = await executor.run([...reads(), patch], { conversation: 'c' });
  expect(result?.error).toBeUndefined();
  await executor.close();
  return place;
}

const reads = () => ['changed', 'old', 'removed'].map((path) => call('read_file', { path }, `read ${path}`));

/** Everything below the root: permission bits and contents, including temporary files. */
function everything({ root }: Place): readonly string[] {
  return readdirSync(root, { withFileTypes: true, recursive: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const mode = (lstatSync(path).mode & 0o7777).toString(8);
      return `${relative(root, path)} ${mode} ${entry.isFile() ? readFileSync(path, 'utf8') : ''}`;
    })
    .sort();
}

/** In the short soak, every second step. */
const STRIDE = soakSize('STRIDE', { short: 2, whole: 1 });

/** Runs `trial` with 1, 2, 3, … until it returns false, a few at a time. @returns how many returned true, with those left out */
async function eachStep(trial: (nth: number) => Promise<boolean>): Promise<number> {
  let next = 1;
  let end = Number.POSITIVE_INFINITY;
  const take = (): number => {
    next += STRIDE;
    return next - STRIDE;
  };
  const goOn = async (): Promise<void> => {
    for (let nth = take(); nth < end; nth = take()) {
      try {
        if (!(await trial(nth))) end = Math.min(end, nth);
      } catch (error) {
        end = 0;
        throw error;
      }
    }
  };
  // All of them end before their folders are removed.
  for (const one of await Promise.allSettled([goOn(), goOn(), goOn()])) {
    if (one.status === 'rejected') throw one.reason;
  }
  return end - 1;
}

describe('whatever step it is killed at', () => {
  it('an undo loses nothing and leaves nothing behind, and a second one completes it', async () => {
    const after = everything(await patched());
    const before = everything(unpatched());
    const steps = await eachStep(async (nth) => {
      const place = await patched();
      const run = { ...place, calls: [], undo: 'apply_patch', at: 'before step', nth };
      if (!(await isKilled(run))) return false;
      const executor = executorFor(place);
      await executor.recover();
      expect([before, after], `step ${nth}`).toContainEqual(everything(place));
      await executor.undo('apply_patch');
      expect(everything(place), `step ${nth}`).toEqual(before);
      await executor.close();
      return true;
    });
    expect(steps).toBeGreaterThan(25);
  }, 600_000);

  it('an undo that first removes obstacles can be repeated, and reports no more than is true', {
    tags: ['soak'],
    timeout: 600_000,
  }, async () => {
    const swapped = async (): Promise<Place> => {
      const place = unpatched();
      const tool = defineTool({
        name: 'swap',
        description: 'd',
        input: { type: 'object' },
        async execute(_, { files }) {
          await files.remove('changed');
          await files.write('changed/inner', Buffer.from('inner'), { mode: 'create' });
          return 'swapped';
        },
      });
      const executor = executorFor({ ...place, tools: [tool] });
      const [result] = await executor.run([call('swap', {})]);
      expect(result?.error).toBeUndefined();
      await executor.close();
      return place;
    };
    const after = everything(await swapped());
    const before = everything(unpatched());
    const steps = await eachStep(async (nth) => {
      const place = await swapped();
      if (!(await isKilled({ ...place, calls: [], undo: 'swap', at: 'before step', nth }))) return false;
      const executor = executorFor(place);
      const [batch] = await executor.recover();
      const result = batch?.calls[0]?.result;
      if (result?.success === true) expect(everything(place), `step ${nth}`).toEqual(before);
      if (result?.error?.details?.executed === 'no') expect(everything(place), `step ${nth}`).toEqual(after);
      await executor.undo('swap');
      expect(everything(place), `step ${nth}`).toEqual(before);
      await executor.close();
      return true;
    });
    expect(steps).toBeGreaterThan(20);
  });

  it('the recovery of an undo can be repeated', { tags: ['soak'], timeout: 600_000 }, async () => {
    const before = everything(unpatched());
    const steps = await eachStep(async (nth) => {
      const place = await patched();
      const undo = { ...place, calls: [], undo: 'apply_patch', at: 'after put', nth: 2 };
      await runUntilKilled(undo);
      const isCut = await isKilled({ ...place, calls: [], recover: true, at: 'before step', nth });
      const executor = executorFor(place);
      await executor.undo('apply_patch');
      expect(everything(place), `step ${nth}`).toEqual(before);
      await executor.close();
      return isCut;
    });
    expect(steps).toBeGreaterThan(10);
  });

  it('a patch is applied whole or not at all, and leaves nothing behind', async () => {
    const after = everything(await patched());
    const before = everything(unpatched());
    const steps = await eachStep(async (nth) => {
      const place = unpatched();
      const run = { ...place, calls: [...reads(), patch], conversation: 'c', at: 'before step', nth };
      if (!(await isKilled(run))) return false;
      const executor = executorFor(place);
      await executor.recover();
      expect([before, after], `step ${nth}`).toContainEqual(everything(place));
      await executor.close();
      return true;
    });
    expect(steps).toBeGreaterThan(25);
  }, 600_000);

  eachOf(
    [
      ['write_file', { path: 'deep/er/written', content: 'new' }],
      ['write_file', { path: 'deep/er/written', content: 'new', mode: 'append' }],
      [
        'apply_patch',
        {
          patch: '*** Begin Patch\n*** Add File: deep/er/one\n+1\n*** Add File: deep/two\n+2\n*** End Patch',
        },
      ],
    ],
    1,
  )(
    '%s leaves no directory behind an answer that nothing was done: %j',
    async (name, args) => {
      const made = call(name, args);
      const whole = unpatched();
      const [done] = await executorFor(whole).run([made], { conversation: 'c' });
      expect(done?.success).toBe(true);
      const before = everything(unpatched());
      const after = everything(whole);
      const steps = await eachStep(async (nth) => {
        const place = unpatched();
        const run = { ...place, calls: [made], conversation: 'c', at: 'before step', nth };
        if (!(await isKilled(run))) return false;
        const executor = executorFor(place);
        const [batch] = await executor.recover();
        const result = batch?.calls.at(-1)?.result;
        const { executed } = result?.error?.details ?? {};
        // Before it was recorded, and after it was answered, there is nothing to recover.
        const expected = result === undefined ? [before, after] : [executed === 'no' ? before : after];
        expect(expected, `step ${nth}: ${result?.error?.message}`).toContainEqual(everything(place));
        await executor.close();
        return true;
      });
      expect(steps).toBeGreaterThan(12);
    },
    600_000,
  );
});
