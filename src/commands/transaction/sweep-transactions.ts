import { systemClock } from '../../platform/clock/clock.js';
import { binaryEntry, toBinary, writeDurably } from '../../platform/fs/binary-fs.js';
import { removeQuietly } from '../../platform/fs/make-and-remove.js';
import { modifiedMs, ownDirectories, readWhole } from '../../platform/process/transaction-directory.js';
import { applyPlan } from './apply-plan.js';
import type { DonePlan, TransactionPlan } from './transaction-plan.js';

/*
 * A transaction's directory says how far it came:
 *   no plan.json               nothing was changed, and nothing will be
 *   plan.json                  it will be done, by whatever process
 *   done.json                  it is done; `old` holds what was replaced and removed
 */

export const KIND = 'transaction';

/** Makes a plan real; what it cannot do is told. Once it is on the disk it is done, also by another process. */
export function commitPlan(directory: string, plan: TransactionPlan): DonePlan {
  writeDurably(`${directory}/plan.json`, JSON.stringify(plan));
  return completePlan(directory, plan);
}

function completePlan(directory: string, plan: TransactionPlan): DonePlan {
  const done: DonePlan = { ...plan, failed: applyPlan(plan, toBinary(directory)) };
  try {
    writeDurably(`${directory}/done.json`, JSON.stringify(done));
    removeQuietly(`${directory}/plan.json`);
  } catch {
    // A full disk. Another process finds the plan, and nothing of it left to do.
  }
  return done;
}

/** What was done; undefined where nothing was, or it is too long ago. */
export function readDone(directory: string): DonePlan | undefined {
  const text = readWhole(`${directory}/done.json`);
  return text === undefined ? undefined : (JSON.parse(text) as DonePlan);
}

/** Brings a transaction to its end whose process is dead. */
export function settleLeft(directory: string): 'committed' | 'discarded' {
  if (binaryEntry(toBinary(`${directory}/done.json`)) !== undefined) return 'committed';
  const text = readWhole(`${directory}/plan.json`);
  if (text === undefined) {
    removeQuietly(directory);
    return 'discarded';
  }
  completePlan(directory, JSON.parse(text) as TransactionPlan);
  for (const root of Object.keys((JSON.parse(text) as TransactionPlan).roots))
    removeQuietly(`${directory}/${root}`);
  return 'committed';
}

/** Old versions are kept so long for an undo. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Brings what dead processes have left to its end, and forgets what is old. */
export function sweepTransactions(place: string): void {
  for (const { path, maker } of ownDirectories(place, KIND)) {
    const doneAt = modifiedMs(`${path}/done.json`);
    if (doneAt !== undefined) {
      if (systemClock.now() - doneAt > KEPT_MS) removeQuietly(path);
    } else if (maker === 'gone') settleLeft(path);
  }
  for (const kind of ['masks', 'probe']) {
    for (const { path, maker } of ownDirectories(place, kind)) if (maker === 'gone') removeQuietly(path);
  }
}
