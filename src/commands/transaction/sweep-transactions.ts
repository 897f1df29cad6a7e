import { systemClock } from '../../platform/clock/clock.js';
import { toBinary, writeDurably } from '../../platform/fs/binary-fs.js';
import { removeTree } from '../../platform/fs/remove-tree.js';
import {
  directoriesOf,
  modifiedMs,
  ownDirectories,
  readWhole,
  writeWhole,
} from '../../platform/process/transaction-directory.js';
import { applyPlan, applyPlanInSlices } from './apply-plan.js';
import { type DonePlan, type FailedChange, KEPT_BYTES, type TransactionPlan } from './transaction-plan.js';

/*
 * A transaction's directory says how far it came:
 *   no plan.json               nothing was changed, and nothing will be
 *   plan.json                  it will be done, by whatever process
 *   done.json                  it is done; `old` holds what was replaced and removed
 */

export const KIND = 'transaction';

/** Makes a plan real; what it cannot do is told. Once it is on the disk it is done, also by another process. */
export async function commitPlan(directory: string, plan: TransactionPlan): Promise<DonePlan> {
  writeDurably(`${directory}/plan.json`, JSON.stringify(plan));
  return recordDone(directory, plan, await applyPlanInSlices(plan, toBinary(directory)));
}

/** What this process could not do for now, by directory. */
const unfinished = new Map<string, DonePlan>();

export function isUnfinished(directory: string): boolean {
  return unfinished.has(directory);
}

/** Tries again what could not be done for want of room, or because nothing could be written. Nothing else may be under way. */
export function finishTransactions(): void {
  for (const [directory, done] of unfinished) {
    const left = done.failed.filter(({ isPassing }) => isPassing === true);
    const given = done.failed.filter((failure) => !left.includes(failure));
    const again = applyPlan(done, toBinary(directory), new Set(left.map(({ index }) => index)));
    recordDone(directory, done, [...given, ...again]);
    removeLayers(directory, done);
  }
}

function removeLayers(directory: string, { roots }: TransactionPlan): void {
  if (!isUnfinished(directory)) for (const root of roots.keys()) removeTree(`${directory}/${root}`);
}

function recordDone(directory: string, plan: TransactionPlan, failed: readonly FailedChange[]): DonePlan {
  const done: DonePlan = { ...plan, failed };
  if (failed.some(({ isPassing }) => isPassing === true)) unfinished.set(directory, done);
  else {
    unfinished.delete(directory);
    writeDone(directory, done);
  }
  return done;
}

function writeDone(directory: string, done: DonePlan): void {
  try {
    writeWhole(`${directory}/kept`, `${keptBytes(done)}`);
    writeDurably(`${directory}/done.json`, JSON.stringify(done));
    removeTree(`${directory}/plan.json`);
  } catch {
    // A full disk. Another process finds the plan, and nothing of it left to do.
  }
}

/** Of what was replaced and removed. */
function keptBytes({ changes }: TransactionPlan): number {
  return changes.reduce((sum, { before }) => sum + (before?.size ?? 0), 0);
}

/** The same for what is to be taken back: what could not be done until now is not done any more. */
export function concludeDone(directory: string): DonePlan | undefined {
  const left = unfinished.get(directory);
  if (left === undefined) return readDone(directory);
  unfinished.delete(directory);
  writeDone(directory, left);
  return left;
}

/** What was done; undefined where nothing was, or it is too long ago. */
export function readDone(directory: string): DonePlan | undefined {
  const text = readWhole(`${directory}/done.json`);
  return text === undefined ? undefined : (JSON.parse(text) as DonePlan);
}

/** Removes what was kept of transactions that can no longer be undone. */
export function forgetTransactions(directories: Iterable<string>): void {
  for (const directory of directories) removeTree(directory);
}

/** What has become of a transaction whose process is dead. */
export interface SettledTransaction {
  readonly state: 'committed' | 'discarded';
  /** Of the command, where that is known. */
  readonly exitCode?: number | null;
}

/** Brings it to its end: what was to be made is made, and the rest is dropped. */
export function settleLeft(directory: string): SettledTransaction {
  const done = readDone(directory);
  if (done !== undefined) return { state: 'committed', exitCode: done.exitCode ?? null };
  const text = readWhole(`${directory}/plan.json`);
  if (text === undefined) {
    removeTree(directory);
    return { state: 'discarded' };
  }
  const plan = JSON.parse(text) as TransactionPlan;
  recordDone(directory, plan, applyPlan(plan, toBinary(directory)));
  removeLayers(directory, plan);
  return { state: 'committed', exitCode: plan.exitCode ?? null };
}

/** Whether a path is that of a transaction: what stands in a record is looked at before anything is done with it. */
export function isTransactionDirectory(path: string): boolean {
  return /^\/(?:[^/]+\/)+transaction-[0-9a-f]{24}-[0-9a-f]{16}$/.test(path) && !path.includes('/../');
}

/** Old versions are kept so long for an undo. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** That it was made is known longer: a process that died meanwhile must not be told that it was not. */
const KNOWN_MS = 365 * 24 * 60 * 60 * 1000;

/** Those of the roots, also where they were on their way out. */
const LAYERS = /^\d+(?:\.gone)?$/;

/** Brings what dead processes have left to its end, and forgets what is old, or too much. */
export function sweepTransactions(place: string): void {
  const done: { readonly path: string; readonly doneAt: number }[] = [];
  for (const { path, maker } of ownDirectories(place, KIND)) {
    const doneAt = modifiedMs(`${path}/done.json`);
    if (doneAt !== undefined) {
      done.push({ path, doneAt });
      if (maker === 'gone') for (const layers of directoriesOf(path, LAYERS)) removeTree(layers);
    } else if (maker === 'gone') settleLeft(path);
  }
  let bytes = 0;
  for (const { path, doneAt } of done.sort((a, b) => b.doneAt - a.doneAt)) {
    bytes += Number(readWhole(`${path}/kept`) ?? 0);
    const age = systemClock.now() - doneAt;
    if (age > KNOWN_MS) removeTree(path);
    else if (bytes > KEPT_BYTES || age > KEPT_MS) removeTree(`${path}/old`);
  }
  for (const kind of ['masks', 'probe']) {
    for (const { path, maker } of ownDirectories(place, kind)) if (maker === 'gone') removeTree(path);
  }
}
