import { type BinaryPath, toBinary, toText } from '../../platform/fs/binary-fs.js';
import { makeOwnDirectory } from '../../platform/process/transaction-directory.js';
import { findNeededObjects } from './needed-objects.js';
import { findOnlyCopies } from './only-copies.js';
import { openElsewhere } from './open-elsewhere.js';
import { commitPlan, concludeDone, isBegun, KIND } from './sweep-transactions.js';
import { type DonePlan, insideOf, type TransactionPlan } from './transaction-plan.js';
import { isAsBefore, keyOf, UndoneChanges } from './undone-changes.js';

/** The undo of a transaction. Paths are absolute. */
export interface TransactionUndo {
  readonly plan: TransactionPlan;
  readonly restored: readonly string[];
  readonly skipped: readonly SkippedPath[];
}

export interface SkippedPath {
  readonly path: string;
  readonly reason: string;
}

export type UndoRefusal = (path: string, change: 'write' | 'delete') => string | undefined;

/**
 * Plans the undo of a transaction; paths that have changed since are skipped. Undefined if its changes are no
 * longer known.
 * @param refusal why tools may not change a path
 * @throws Error while another process is not done with the transaction
 */
export function planTransactionUndo(directory: string, refusal: UndoRefusal): TransactionUndo | undefined {
  const done = concludeDone(directory);
  if (done === undefined && isBegun(directory))
    throw new Error(
      'the program that ran it has not written all of its changes yet. End that program, or run another command in it',
    );
  if (done === undefined) return undefined;
  const { gone, come, outcomes } = planUndone(done, toBinary(directory), refusal);
  const restored = new Set(come.concat(gone).map((change) => absolute(done, change)));
  const skipped = new Map<string, string>();
  for (const { change, reason } of outcomes) {
    const path = absolute(done, change);
    if (restored.has(path)) continue;
    // An entry that changed its kind has two reasons. Only the removed one says whether it is as before.
    const other = skipped.get(path);
    const decides =
      change.change === 'delete' && other !== undefined && isAsBefore(reason) !== isAsBefore(other);
    if (other === undefined || decides) skipped.set(path, reason);
  }
  return {
    plan: { version: 1, roots: done.roots, changes: [...gone, ...come] },
    restored: [...restored],
    skipped: [...skipped].map(([path, reason]) => ({ path, reason })),
  };
}

/** Repeated until no remaining removal would delete the only copy of a content, or an object that git needs. */
function planUndone(done: DonePlan, directory: BinaryPath, refusal: UndoRefusal): UndoneChanges {
  const open = openElsewhere(done.changes, done.roots);
  const kept = new Map([...open].map(([change, reason]) => [keyOf(change), reason]));
  for (;;) {
    const undone = new UndoneChanges(
      done,
      directory,
      (change) => refusal(absolute(done, change), change.change === 'create' ? 'delete' : 'write'),
      kept,
    );
    try {
      undone.plan();
    } finally {
      undone.close();
    }
    const found = findOnlyCopies(undone, done, directory);
    const needed = findNeededObjects(undone, done, directory);
    if (found.size + needed.length === 0) return undone;
    for (const object of needed)
      kept.set(keyOf(object), 'git may need it: another program has changed the repository since');
    for (const [holder, lost] of found)
      kept.set(
        keyOf(holder),
        `it holds the old content of ${JSON.stringify(absolute(done, lost))}, which stays`,
      );
  }
}

/** The directory where an undo keeps replaced entries, next to the transaction. */
export function undoDirectory(directory: string): string {
  return makeOwnDirectory(directory.slice(0, directory.lastIndexOf('/')), KIND, ['old']);
}

/** The result of an undo. */
export interface CommittedUndo {
  /** Nothing was undone, because another program has changed a path since the plan. */
  readonly isTakenBack: boolean;
  /** The changes that failed. */
  readonly failed: readonly SkippedPath[];
}

/** Applies all of it or nothing: if it fails, removed and replaced entries are restored. */
export async function commitUndo(directory: string, plan: TransactionPlan): Promise<CommittedUndo> {
  const {
    failed,
    left = [],
    isTakenBack = false,
  } = await commitPlan(directory, plan, {
    onConflict: 'takeBack',
    waits: false,
  });
  const stay = new Set(left.map(({ index }) => index));
  const reasons = new Map<string, string>();
  for (const { index, reason } of failed) {
    if (stay.has(index)) continue;
    const change = plan.changes[index];
    for (const one of change === undefined ? [] : [change, ...insideOf(plan.changes, index)]) {
      reasons.set(absolute(plan, one), reason);
    }
  }
  return { isTakenBack, failed: [...reasons].map(([path, reason]) => ({ path, reason })) };
}

function absolute(
  { roots }: TransactionPlan,
  { root, path }: { readonly root: number; readonly path: BinaryPath },
) {
  const at = roots[root] ?? '';
  return path === '' ? at : `${at}/${toText(path)}`;
}
