import type { CommandChanges, UnkeptChange } from '../../contract/changes.js';
import { type BinaryPath, binaryEntry, readBinaryFile, toBinary } from '../../platform/fs/binary-fs.js';
import { changedName } from '../../platform/fs/changed-name.js';
import type { LeftOut } from './found-changes.js';
import type { FailedChange, PlannedChange } from './transaction-plan.js';

/** The maximum number of paths in each list. */
const MOST_PATHS = 200;
/** The maximum number of versions to keep for reading, and their size. */
const MOST_VERSIONS = 20;
const VERSION_BYTES = 1024 * 1024;

export interface ReportParts {
  readonly roots: readonly string[];
  /** The first root of the sandbox: paths are relative to it. */
  readonly first: string;
  readonly changes: readonly PlannedChange[];
  readonly failed: readonly FailedChange[];
  readonly leftOut: readonly LeftOut[];
  readonly keepVersion: ((bytes: Uint8Array) => string | undefined) | undefined;
}

/** The changes of a transaction, made or intended, for results. */
export function reportChanges({
  roots,
  first,
  changes,
  failed,
  leftOut,
  keepVersion,
}: ReportParts): CommandChanges {
  const name = namingIn(roots, first);
  const failures = new Map(failed.map((failure) => [failure.index, failure]));
  const lists: Record<PlannedChange['change'], string[]> = { create: [], modify: [], delete: [] };
  const unkept: LeftOut[] = [...leftOut];
  const treeFailures = failures.size === 0 ? failures : failuresOfTrees(changes, failures);
  changes.forEach((change, index) => {
    const failure = failures.get(index) ?? treeFailures.get(index);
    const isDirectory = change.kind === 'dir';
    if (failure === undefined) lists[change.change].push(name(change.root, change.path, isDirectory));
    else {
      const { reason, isConflict, isPassing } = failure;
      const isLater = isPassing === true ? { isLater: true as const } : {};
      const left = { root: change.root, path: change.path, isDirectory, reason, isConflict, ...isLater };
      unkept.push(change.from === undefined ? left : { ...left, from: change.from });
    }
  });
  let kept = 0;
  const told = (left: LeftOut): UnkeptChange => {
    const ref = kept < MOST_VERSIONS ? versionOf(left, keepVersion) : undefined;
    if (ref !== undefined) kept++;
    const path = name(left.root, left.path, left.isDirectory);
    const later = left.isLater === true ? { later: true as const } : {};
    return { path, reason: left.reason, ...(ref === undefined ? {} : { ref }), ...later };
  };
  const refused = unkept.filter(({ isConflict }) => !isConflict);
  const conflicts = unkept.filter(({ isConflict }) => isConflict);
  const all = [lists.create, lists.modify, lists.delete, refused, conflicts];
  const more = all.reduce((sum, { length }) => sum + Math.max(0, length - MOST_PATHS), 0);
  return {
    created: lists.create.sort().slice(0, MOST_PATHS),
    modified: lists.modify.sort().slice(0, MOST_PATHS),
    deleted: lists.delete.sort().slice(0, MOST_PATHS),
    refused: refused.slice(0, MOST_PATHS).map(told),
    conflicts: conflicts.slice(0, MOST_PATHS).map(told),
    ...(more === 0 ? {} : { more }),
  };
}

/**
 * The name of a path below a root in lists of changes. @param first the root that paths are relative to; it may lie
 * inside one of the others
 */
export function namingIn(
  roots: readonly string[],
  first: string,
): (root: number, path: BinaryPath, isDirectory: boolean) => string {
  const above = roots.map((root) => (root === first ? '' : `${changedName(toBinary(root))}/`));
  const within = roots.map((root) =>
    first.startsWith(`${root}/`) ? toBinary(first.slice(root.length + 1)) : undefined,
  );
  return (root, path, isDirectory) => {
    const inner = within[root];
    if (inner !== undefined && `${path}/`.startsWith(`${inner}/`)) {
      if (path === inner) return './';
      return `${changedName(path.slice(inner.length + 1))}${isDirectory ? '/' : ''}`;
    }
    const before = above[root] ?? '';
    if (path === '') return before === '' ? './' : before;
    return `${before}${changedName(path)}${isDirectory ? '/' : ''}`;
  };
}

/** Entries that move with a directory fail with it. */
function failuresOfTrees(
  changes: readonly PlannedChange[],
  failures: ReadonlyMap<number, FailedChange>,
): ReadonlyMap<number, FailedChange> {
  const inside = new Map<number, FailedChange>();
  let ofTree: FailedChange | undefined;
  for (let index = changes.length - 1; index >= 0; index--) {
    const change = changes[index];
    if (change?.isInside !== true) ofTree = change?.isTree === true ? failures.get(index) : undefined;
    else if (ofTree !== undefined) inside.set(index, ofTree);
  }
  return inside;
}

function versionOf(
  { from, isDirectory }: LeftOut,
  keepVersion: ReportParts['keepVersion'],
): string | undefined {
  if (from === undefined || isDirectory || keepVersion === undefined) return undefined;
  const entry = binaryEntry(from);
  if (entry?.kind !== 'file' || entry.size > VERSION_BYTES) return undefined;
  try {
    return keepVersion(readBinaryFile(from));
  } catch {
    // On a full disk, the outcome of the changes is still reported.
    return undefined;
  }
}
