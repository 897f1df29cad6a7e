import { entryStat } from '../../platform/fs/fs-entry.js';
import { localFileSystem } from '../../platform/fs/local-file-system.js';
import { syncFileSystems, syncFileSystemsNow } from '../../platform/process/sync-file-systems.js';
import type { AppliedPlan } from './apply-plan.js';
import { farRoots, removeLandings } from './landing-directories.js';
import type { FailedChange, TransactionPlan } from './transaction-plan.js';

/*
 * A commit survives a loss of power because of this order on the disk:
 *
 * 1. The new versions: the file system of the transaction's directory is synced (`commitPlan`), and those of the
 *    roots with a landing directory. Overlays sync nothing (`OverlayMount`).
 * 2. The plan, by its name.
 * 3. The changes in the roots. If they are on the directory's file system, and that keeps the order of all changes,
 *    the sync of `done.json` includes them. Otherwise the file systems of the roots are synced first, without the
 *    landing directories.
 * 4. `done.json`. Its name may reach the disk later: until then the plan exists, and is applied again with the same
 *    result.
 * 5. The journal's record of the result.
 */

/** Step 3. If the disk refuses it, the changes of such a root count as failed for now, and are confirmed later. */
export async function confirmChanges(
  directory: string,
  plan: TransactionPlan,
  applied: AppliedPlan,
): Promise<AppliedPlan> {
  if (applied.isStopped) return applied;
  removeEmptied(directory, applied);
  const roots = rootsToSync(directory, plan);
  if (roots.length === 0) return applied;
  const refusal = await syncFileSystems(placesOf(plan, roots));
  return withRefusal(plan, roots, applied, refusal);
}

/** The same, and this process waits. */
export function confirmChangesNow(
  directory: string,
  plan: TransactionPlan,
  applied: AppliedPlan,
): AppliedPlan {
  if (applied.isStopped) return applied;
  removeEmptied(directory, applied);
  const roots = rootsToSync(directory, plan);
  if (roots.length === 0) return applied;
  return withRefusal(plan, roots, applied, syncFileSystemsNow(placesOf(plan, roots)));
}

/** The same for undone changes: if the disk refuses the sync, it may or may not contain the changes. */
export function confirmUndoneNow(
  directory: string,
  plan: TransactionPlan,
  left: readonly FailedChange[],
): void {
  removeEmptied(directory, { failed: left });
  const roots = rootsToSync(directory, plan);
  if (roots.length > 0) syncFileSystemsNow(placesOf(plan, roots));
}

/** Changes that failed for now need their landing directory again. */
function removeEmptied(directory: string, { failed }: Pick<AppliedPlan, 'failed'>): void {
  if (failed.every(({ isPassing }) => isPassing !== true)) removeLandings(directory);
}

/** These keep the order of all changes; the content of `tmpfs` is lost anyway. */
const IN_ORDER: ReadonlySet<string | undefined> = new Set(['ext4', 'xfs', 'tmpfs']);

/** Their indices. */
function rootsToSync(directory: string, plan: TransactionPlan): readonly number[] {
  return IN_ORDER.has(localFileSystem(directory)) ? farRoots(directory, plan) : [...plan.roots.keys()];
}

function placesOf({ roots }: TransactionPlan, indices: readonly number[]): readonly string[] {
  return indices.map((index) => roots[index] ?? '').filter((root) => entryStat(root) !== undefined);
}

function withRefusal(
  { changes, waits }: TransactionPlan,
  roots: readonly number[],
  applied: AppliedPlan,
  reason: string | undefined,
): AppliedPlan {
  if (reason === undefined) return applied;
  const known = new Set(applied.failed.map(({ index }) => index));
  const isOpen = (index: number): boolean => {
    const change = changes[index];
    return (
      change !== undefined && change.isInside !== true && roots.includes(change.root) && !known.has(index)
    );
  };
  const unconfirmed = [...changes.keys()].filter(isOpen).map((index) => ({
    ...{ index, reason, isConflict: false },
    ...(waits === false ? {} : { isPassing: true as const }),
  }));
  return { ...applied, failed: [...applied.failed, ...unconfirmed] };
}
