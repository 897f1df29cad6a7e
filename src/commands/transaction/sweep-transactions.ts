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
import { type AppliedPlan, applyPlan, applyPlanInSlices, type MadeChange } from './apply-plan.js';
import { removeLeftLocks } from './git-locks.js';
import { takeBackPlan } from './take-back.js';
import {
  type DonePlan,
  type FailedChange,
  KEPT_BYTES,
  type OnConflict,
  type TransactionPlan,
} from './transaction-plan.js';

/*
 * A transaction's directory says how far it came:
 *   no plan.json               nothing was changed, and nothing will be
 *   plan.json                  it will be done, by whatever process
 *   plan.json and back.json    a part of it could not be done: what was done is taken back, by whatever process
 *   done.json                  it is done, or taken back; `old` holds what was replaced and removed
 */

export const KIND = 'transaction';

/**
 * Makes the changes of a plan. Once the plan is on the disk, it is made even if this process dies.
 *
 * With `takeBack`, the first change that cannot be made ends it, and those that were made are taken back: `isTakenBack`
 * says that nothing of it is left, and `left` lists what others have changed again. With `keep_rest` the other changes are
 * made. Either way, changes that fail for a passing reason, such as a full disk, are tried again before the next command,
 * unless `waits` is false: then they fail like any other.
 */
export async function commitPlan(
  directory: string,
  planned: TransactionPlan,
  {
    onConflict = 'keep_rest',
    waits = true,
  }: { readonly onConflict?: OnConflict; readonly waits?: boolean } = {},
): Promise<DonePlan> {
  const plan: TransactionPlan = { ...planned, onConflict, waits };
  writeDurably(`${directory}/plan.json`, JSON.stringify(plan));
  return conclude(directory, plan, await applyPlanInSlices(plan, toBinary(directory)));
}

/** What was made of a plan when it could not be made whole. */
interface BackPlan {
  readonly failed: readonly FailedChange[];
  readonly made: readonly (readonly [number, MadeChange])[];
}

function conclude(
  directory: string,
  plan: TransactionPlan,
  { failed, made, isStopped }: AppliedPlan,
): DonePlan {
  if (!isStopped) return recordDone(directory, { ...withMade(plan, made), failed });
  const back: BackPlan = { failed, made: [...made] };
  try {
    writeDurably(`${directory}/back.json`, JSON.stringify(back));
  } catch {
    // A full disk. If this process dies, the next one tries the plan again, and takes it back then.
  }
  return takeBack(directory, plan, back);
}

function takeBack(directory: string, plan: TransactionPlan, { failed, made }: BackPlan): DonePlan {
  const known = new Map(made);
  const left = takeBackPlan(plan, toBinary(directory), known);
  const spared = new Set([...failed, ...left].map(({ index }) => index));
  const isBack = (_: unknown, index: number): readonly FailedChange[] =>
    spared.has(index) ? [] : [{ index, reason: TAKEN_BACK, isConflict: false, isTakenBack: true }];
  return recordDone(directory, {
    ...withMade(plan, known),
    failed: [...failed, ...plan.changes.flatMap(isBack)],
    ...(left.length === 0 ? { isTakenBack: true } : { left }),
  });
}

const TAKEN_BACK = 'it was not kept, because another change of the same command could not be made';

/** With the prints of what was made. */
function withMade(plan: TransactionPlan, made: ReadonlyMap<number, MadeChange>): TransactionPlan {
  const changes = plan.changes.map((change, index) => ({ ...change, ...made.get(index) }));
  return { ...plan, changes };
}

/** What this process could not do for now, by directory. */
const unfinished = new Map<string, DonePlan>();

export function isUnfinished(directory: string): boolean {
  return unfinished.has(directory);
}

/** Tries again what could not be done for want of room, or because nothing could be written. Nothing else may be under way. */
export function finishTransactions(): void {
  for (const [directory, { failed, left, isTakenBack: _, ...plan }] of unfinished) {
    if (left === undefined) makeRest(directory, plan, failed);
    else settlePlan(directory, plan);
    removeLayers(directory, plan);
  }
}

function makeRest(directory: string, plan: TransactionPlan, failed: readonly FailedChange[]): void {
  const rest = failed.filter(({ isPassing }) => isPassing === true);
  const only = new Set(rest.map(({ index }) => index));
  const again = applyPlan(plan, toBinary(directory), { only, isAgain: true });
  const given = failed.filter((failure) => !rest.includes(failure));
  const spared = new Set(failed.map(({ index }) => index));
  // What was made before is known by its prints, and goes with the rest where that is to be taken back.
  const before = plan.changes.flatMap(({ isInside, before: was, after, wasThere }, index) =>
    isInside === true || spared.has(index)
      ? []
      : [
          [
            index,
            { ...(was && { before: was }), ...(after && { after }), ...(wasThere && { wasThere }) },
          ] as const,
        ],
  );
  conclude(directory, plan, {
    ...again,
    failed: [...given, ...again.failed],
    made: new Map([...before, ...again.made]),
  });
}

function removeLayers(directory: string, { roots }: TransactionPlan): void {
  if (!isUnfinished(directory)) for (const root of roots.keys()) removeTree(`${directory}/${root}`);
}

function recordDone(directory: string, done: DonePlan): DonePlan {
  const open = done.left ?? (done.isTakenBack === true ? [] : done.failed);
  if (open.some(({ isPassing }) => isPassing === true)) unfinished.set(directory, done);
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
    for (const name of ['plan.json', 'back.json']) removeTree(`${directory}/${name}`);
  } catch {
    // A full disk. Another process finds the plan, and nothing of it left to do.
  }
}

/** Of what was replaced and removed. */
function keptBytes({ changes, isTakenBack }: DonePlan): number {
  return isTakenBack === true ? 0 : changes.reduce((sum, { before }) => sum + (before?.size ?? 0), 0);
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
  /** What was made, and what was not; left out where nothing was planned. */
  readonly done?: DonePlan;
}

/** Brings it to its end: what was to be made is made, or what was made is taken back, and the rest is dropped. */
export function settleLeft(directory: string): SettledTransaction {
  const done = readDone(directory) ?? settlePlanned(directory);
  removeLeftLocks(directory);
  if (done === undefined) {
    removeTree(directory);
    return { state: 'discarded' };
  }
  return { state: done.isTakenBack === true ? 'discarded' : 'committed', done };
}

function settlePlanned(directory: string): DonePlan | undefined {
  const text = readWhole(`${directory}/plan.json`);
  if (text === undefined) return undefined;
  const done = settlePlan(directory, JSON.parse(text) as TransactionPlan);
  removeLayers(directory, done);
  return done;
}

/** Goes on with a plan that another process, or an earlier attempt, has begun. */
function settlePlan(directory: string, plan: TransactionPlan): DonePlan {
  const back = readWhole(`${directory}/back.json`);
  if (back !== undefined) return takeBack(directory, plan, JSON.parse(back) as BackPlan);
  return conclude(directory, plan, applyPlan(plan, toBinary(directory), { isAgain: true }));
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
