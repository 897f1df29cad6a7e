import { contentHash } from '../../platform/fs/binary-content.js';
import { type BinaryEntry, type BinaryPath, binaryEntry, toBinary } from '../../platform/fs/binary-fs.js';
import { type DonePlan, oldVersion, type PlannedChange } from './transaction-plan.js';
import { isAsBefore, type UndoneChanges } from './undone-changes.js';

/** A file at any place. */
interface Held {
  readonly change: PlannedChange;
  readonly at: BinaryPath;
  readonly size: number;
}

/**
 * A command may have moved a content from one file to another: `mv a b`. If `a` stays because a person has recreated
 * it, removing `b` would remove the last copy of the content. So `b` stays.
 * @returns the changes that are not undone, each with the change whose content it holds
 */
export function findOnlyCopies(
  undone: UndoneChanges,
  done: DonePlan,
  directory: BinaryPath,
): ReadonlyMap<PlannedChange, PlannedChange> {
  const lost = undone.outcomes
    .filter(({ change, reason }) => change.change !== 'create' && !isAsBefore(reason))
    .flatMap(({ change }) => heldAt(change, oldPath(done, directory, change)));
  if (lost.length === 0) return new Map();
  const kept = new Map<PlannedChange, PlannedChange>();
  const going = undone.gone.concat(undone.come.filter(({ change }) => change === 'modify'));
  const leaving = going.flatMap((change) => heldAt(change, rootPath(done, change)));
  const staying = [
    ...undone.come.flatMap((change) => (change.from === undefined ? [] : heldAt(change, change.from))),
    ...undone.outcomes.flatMap(({ change }) => heldAt(change, rootPath(done, change))),
  ];
  for (const one of lost) {
    if (staying.some((other) => isSameContent(one, other))) continue;
    const holder = leaving.find((other) => isSameContent(one, other));
    if (holder === undefined) continue;
    kept.set(holder.change, one.change);
    staying.push(holder);
  }
  return kept;
}

/** Not an empty file: there is nothing to lose. */
function heldAt(change: PlannedChange, at: BinaryPath): readonly Held[] {
  const entry = entryAt(at);
  return entry?.kind === 'file' && entry.size > 0 ? [{ change, at, size: entry.size }] : [];
}

function entryAt(at: BinaryPath): BinaryEntry | undefined {
  try {
    return binaryEntry(at);
  } catch {
    // Inaccessible, or a loop of links: nothing is known about it.
    return undefined;
  }
}

function isSameContent(one: Held, other: Held): boolean {
  if (one.size !== other.size) return false;
  const file = { kind: 'file' } as const;
  return contentHash(one.at, file) === contentHash(other.at, file);
}

function rootPath({ roots }: DonePlan, { root, path }: PlannedChange): BinaryPath {
  return `${toBinary(roots[root] ?? '')}/${path}`;
}

/** An entry removed with its directory lies in the kept directory. */
function oldPath({ changes }: DonePlan, directory: BinaryPath, change: PlannedChange): BinaryPath {
  const index = changes.indexOf(change);
  if (change.isInside !== true) return oldVersion(directory, index);
  const top = changes.findIndex(({ isTree }, at) => at > index && isTree === true);
  return `${oldVersion(directory, top)}/${change.path.slice((changes[top]?.path.length ?? 0) + 1)}`;
}
