import { expect, it } from 'vitest';
import { placeOf, withWholeTrees } from './new-trees.js';
import type { PlannedChange } from './transaction-plan.js';

const ROOT = { index: 0, lower: '/root', upper: '/upper' };
const after = { kind: 'dir', size: 0, mode: 0o755, mtimeNs: '0' } as const;

it('a new directory with more entries than a function call can have arguments moves as a whole', () => {
  const count = 300_000;
  const files = Array.from({ length: count }, (_, index): PlannedChange => {
    const path = `new/${index}`;
    return { change: 'create', kind: 'file', root: 0, path, from: `/upper/${path}` };
  });
  const come: PlannedChange[] = [{ change: 'create', kind: 'dir', root: 0, path: 'new', after }, ...files];
  const changes = withWholeTrees(come, [ROOT], new Map([[placeOf(0, 'new'), count]]));
  expect(changes).toHaveLength(count + 1);
  expect(changes.at(-1)).toMatchObject({ path: 'new', isTree: true, from: '/upper/new' });
  expect(changes.at(0)?.isInside).toBe(true);
});

it('a new directory with an entry that is left out, or that its owner may not write or list, is created instead', () => {
  const file: PlannedChange = {
    change: 'create',
    kind: 'file',
    root: 0,
    path: 'new/a',
    from: '/upper/new/a',
  };
  const directory = (mode: number): PlannedChange => ({
    ...{ change: 'create', kind: 'dir', root: 0, path: 'new' },
    after: { ...after, mode },
  });
  const isWhole = (mode: number, entries: number): boolean =>
    withWholeTrees([directory(mode), file], [ROOT], new Map([[placeOf(0, 'new'), entries]])).some(
      ({ isTree }) => isTree === true,
    );
  expect([isWhole(0o755, 1), isWhole(0o755, 2), isWhole(0o555, 1), isWhole(0o355, 1)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
