import { binaryEntry, toBinary } from '../../platform/fs/binary-fs.js';
import { findOpenWriters, keyOfFile, type SoughtFile } from '../../platform/process/open-writers.js';
import type { LeftOut } from './found-changes.js';
import { insideOf, type PlannedChange } from './transaction-plan.js';

/**
 * The changes of files that another program has open for writing, with the reason to leave them out.
 *
 * A commit replaces a file by a rename. A program that has the old one open goes on writing to it, where no other
 * program finds it: a database or a log loses all that follows.
 *
 * A moved file is a removed one and a copy: without a sandbox it would be the same file.
 *
 * A removed file is lost in the same way without a sandbox, and stays a change. The files beside an SQLite database do
 * not: SQLite removes them when it finds no other connection, and inside a sandbox it never finds one.
 * @param roots in the order of their indices
 */
export function openElsewhere(
  changes: readonly PlannedChange[],
  roots: readonly string[],
): ReadonlyMap<PlannedChange, string> {
  const moved = findMoved(changes);
  const replaced = changes.flatMap((change): readonly Replaced[] => {
    if (!isEndangered(change) && !moved.has(change)) return [];
    const entry = binaryEntry(`${toBinary(roots[change.root] ?? '')}/${change.path}`);
    if (entry?.kind !== 'file') return [];
    const name = change.path.slice(change.path.lastIndexOf('/') + 1);
    return [{ change, file: { dev: entry.dev, ino: entry.ino, name } }];
  });
  const reasons = new Map<PlannedChange, string>();
  if (replaced.length === 0) return reasons;
  const writers = findOpenWriters(replaced.map(({ file }) => file));
  for (const { change, file } of replaced) {
    const writer = writers.get(keyOfFile(file));
    if (writer !== undefined) reasons.set(change, `${writer.program} (process ${writer.pid}) ${HAS_IT_OPEN}`);
  }
  return reasons;
}

const HAS_IT_OPEN = 'has it open for writing; end it first, or use a rule with write_through = true';

const HOLDS_IT = 'it holds a file that is open for writing';

interface Replaced {
  readonly change: PlannedChange;
  readonly file: SoughtFile;
}

/** Git replaces its own files in the same way. */
function isEndangered({ change, kind, path, isInside }: PlannedChange): boolean {
  if (kind !== 'file' || isInside === true || IN_REPOSITORY.test(path)) return false;
  return change === 'modify' || (change === 'delete' && BESIDE_DATABASE.test(path));
}

const IN_REPOSITORY = /(?:^|\/)\.git\//s;

const BESIDE_DATABASE = /-(?:wal|shm)$/;

/** Removed files that were probably moved: a new file has the same size and time. */
function findMoved(changes: readonly PlannedChange[]): ReadonlySet<PlannedChange> {
  const gone = changes.filter(
    ({ change, kind, path }) => change === 'delete' && kind === 'file' && !IN_REPOSITORY.test(path),
  );
  if (gone.length === 0) return new Set();
  const come = new Set(
    changes.flatMap(({ kind, from, after }) => (kind === 'file' && from !== undefined ? [look(after)] : [])),
  );
  return new Set(gone.filter(({ before }) => come.has(look(before))));
}

function look(print: PlannedChange['after']): string {
  return `${print?.size} ${print?.mtimeNs}`;
}

/** Such changes become conflicts. */
export function withoutOpenElsewhere<T extends Changes>(scanned: T, roots: readonly string[]): T {
  const reasons = openElsewhere(scanned.changes, roots);
  if (reasons.size === 0) return scanned;
  const left = [...reasons].map(([{ root, path, from }, reason]): LeftOut => {
    const one = { root, path, isDirectory: false, reason, isConflict: true, isOpenElsewhere: true } as const;
    return from === undefined ? one : { ...one, from };
  });
  const dropped = new Set(reasons.keys());
  for (const [index, above] of scanned.changes.entries()) {
    if (above.change !== 'delete' || above.kind !== 'dir') continue;
    const { root, path } = above;
    const holds = [...reasons.keys()].some((one) => one.root === root && one.path.startsWith(`${path}/`));
    if (!holds) continue;
    // All that would move together with the directory stays.
    for (const one of [above, ...insideOf(scanned.changes, index)]) dropped.add(one);
    left.push({ root, path, isDirectory: true, reason: HOLDS_IT, isConflict: true, isOpenElsewhere: true });
  }
  const changes = scanned.changes.filter((change) => !dropped.has(change));
  return { ...scanned, changes, leftOut: [...scanned.leftOut, ...left] };
}

interface Changes {
  readonly changes: readonly PlannedChange[];
  readonly leftOut: readonly LeftOut[];
}
