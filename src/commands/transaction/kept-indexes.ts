import { type BinaryPath, binaryEntry, linkBinary, toBinary } from '../../platform/fs/binary-fs.js';
import { listIndex } from '../../platform/process/list-index.js';
import { oldVersion, type PlannedChange, type TransactionPlan } from './transaction-plan.js';

/*
 * Git rewrites an index when it only looks: it refreshes the cached times. So a commit keeps each committed index, by
 * a second name, and an undo compares the entries.
 */

/** Call it before the plan is applied. Without a kept index, an undo compares the bytes. */
export function keepIndexes({ changes }: TransactionPlan, directory: BinaryPath): void {
  for (const [index, { path, kind, from }] of changes.entries()) {
    if (from === undefined || kind !== 'file' || !INDEX.test(path)) continue;
    try {
      linkBinary(from, keptIndex(directory, index));
    } catch {
      // The file system has no second names, or an earlier attempt has made this one.
    }
  }
}

/** Whether the index at the path of a change has the same entries as the committed one. */
export function isSameIndex(
  { roots, changes }: TransactionPlan,
  change: PlannedChange,
  directory: BinaryPath,
): boolean {
  if (change.kind !== 'file' || !INDEX.test(change.path)) return false;
  const kept = keptIndex(directory, changes.indexOf(change));
  const at = `${toBinary(roots[change.root] ?? '')}/${change.path}`;
  if (binaryEntry(kept)?.kind !== 'file' || binaryEntry(at)?.kind !== 'file') return false;
  const git = at.slice(0, at.lastIndexOf('/'));
  const [committed, now] = [kept, at].map((index) => listIndex(git, index));
  return committed !== undefined && now !== undefined && committed.equals(now);
}

/** That of a repository, a submodule or a working tree of `git worktree`. */
const INDEX = /(?:^|\/)\.git\/(?:(?:worktrees|modules)\/.+\/)?index$/s;

function keptIndex(directory: BinaryPath, index: number): BinaryPath {
  return `${oldVersion(directory, index)}.index`;
}
