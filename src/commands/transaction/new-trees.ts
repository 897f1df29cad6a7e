import type { BinaryPath } from '../../platform/fs/binary-fs.js';
import type { ScannedRoot } from './found-changes.js';
import type { PlannedChange } from './transaction-plan.js';

/** How many entries a command left in each directory that it created, by `placeOf`. */
export type NewDirectories = Map<string, number>;

export function placeOf(root: number, path: BinaryPath): string {
  return `${root}/${path}`;
}

/**
 * A new directory moves into the root by one rename if all of its content is committed as it is. Otherwise
 * it is created, and its entries move one by one.
 *
 * @param come each directory immediately before its content
 */
export function withWholeTrees(
  come: readonly PlannedChange[],
  roots: readonly ScannedRoot[],
  entries: NewDirectories,
): readonly PlannedChange[] {
  const uppers = new Map(roots.map(({ index, upper }) => [index, upper]));
  const whole = wholeDirectories(come, uppers, entries);
  const changes: PlannedChange[] = [];
  for (let index = 0; index < come.length; ) {
    const top = come[index];
    if (top === undefined) break;
    const end = whole.has(index) ? endOfContent(come, index) : index + 1;
    // One by one: a spread of some 100,000 arguments overflows the stack.
    for (const change of end - index < 2 ? [top] : asTree(come.slice(index, end), uppers))
      changes.push(change);
    index = end;
  }
  return changes;
}

/** The indices of the new directories that may move as a whole. */
function wholeDirectories(
  come: readonly PlannedChange[],
  uppers: ReadonlyMap<number, BinaryPath>,
  entries: NewDirectories,
): ReadonlySet<number> {
  const whole = new Set<number>();
  const moving = new Map<string, number>();
  // Content comes after its directory.
  for (let index = come.length - 1; index >= 0; index--) {
    const change = come[index];
    if (change?.change !== 'create') continue;
    const { root, path, from } = change;
    const place = placeOf(root, path);
    const isWhole =
      change.kind === 'dir'
        ? entries.get(place) === (moving.get(place) ?? 0) && canMove(change)
        : from === `${uppers.get(root) ?? ''}/${path}`;
    if (!isWhole) continue;
    if (change.kind === 'dir') whole.add(index);
    const above = placeOf(root, path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    moving.set(above, (moving.get(above) ?? 0) + 1);
  }
  return whole;
}

/** The owner of a directory needs write access to it for a rename, and its entries are listed before. */
function canMove({ after }: PlannedChange): boolean {
  return after !== undefined && (after.mode & 0o700) === 0o700;
}

function endOfContent(come: readonly PlannedChange[], index: number): number {
  const top = come[index];
  let end = index + 1;
  while (come[end]?.root === top?.root && come[end]?.path.startsWith(`${top?.path ?? ''}/`) === true) end++;
  return end;
}

/** The content comes first, innermost entries first of all. */
function asTree(
  [top, ...content]: readonly PlannedChange[],
  uppers: ReadonlyMap<number, BinaryPath>,
): readonly PlannedChange[] {
  if (top === undefined) return [];
  const upperOf = ({ root, path }: PlannedChange): BinaryPath => `${uppers.get(root) ?? ''}/${path}`;
  const inside = content.map((change) => {
    const { from = upperOf(change) } = change;
    return { ...change, from, isInside: true as const };
  });
  return [...inside.reverse(), { ...top, from: upperOf(top), isTree: true }];
}
