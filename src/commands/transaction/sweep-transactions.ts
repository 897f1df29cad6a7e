import { systemClock } from '../../platform/clock/clock.js';
import { stageFile, syncNameOf, toBinary, writeDurably } from '../../platform/fs/binary-fs.js';
import { removeTree } from '../../platform/fs/remove-tree.js';
import { syncFileSystems } from '../../platform/process/sync-file-systems.js';
import {
  directoriesOf,
  makerOf,
  modifiedMs,
  ownDirectories,
  readWhole,
  writeWhole,
} from '../../platform/process/transaction-directory.js';
import { type AppliedPlan, applyPlan, applyPlanInSlices, type MadeChange } from './apply-plan.js';
import { type PrintsBefore, readNewTrees } from './committed-prints.js';
import { confirmChanges, confirmChangesNow, confirmUndoneNow } from './confirm-on-disk.js';
import { removeLeftLocks } from './git-locks.js';
import { OPENED } from './held-places.js';
import { keepIndexes } from './kept-indexes.js';
import { makeLandings, removeLandings, removeOldCopies } from './landing-directories.js';
import { takeBackPlan } from './take-back.js';
import {
  type DonePlan,
  type FailedChange,
  KEPT_BYTES,
  type OnConflict,
  type PlannedChange,
  type TransactionPlan,
} from './transaction-plan.js';

/*
 * The files in a transaction's directory show its progress. No plan.json: nothing was changed, and nothing
 * will be. plan.json: some process will complete it. plan.json and back.json: a part failed, and some process
 * will undo the rest. done.json: it is complete or undone; `old` contains the replaced and removed entries.
 */

export const KIND = 'transaction';

/**
 * Applies the changes of a plan. Once the plan is on disk, it is completed even if this process dies.
 *
 * With `takeBack`, the first failed change stops it, and the earlier ones are undone: `isTakenBack` says that
 * nothing remains, and `left` lists those that another program has changed again. With `keep_rest` the other
 * changes are made. In both cases, changes that fail temporarily, for example because of a full disk, are
 * tried again before the next command, unless `waits` is false: then they fail like any other.
 */
export async function commitPlan(
  directory: string,
  planned: TransactionPlan,
  { onConflict = 'keep_rest', waits = true, prepared }: CommitOptions = {},
): Promise<DonePlan> {
  const plan = await makeLandings(directory, { ...planned, onConflict, waits });
  let before: PrintsBefore;
  try {
    const intent = stageFile(
      `${directory}/plan.json`,
      recordOf(plan, ({ isInside }) => isInside !== true),
    );
    const landings = (plan.landings ?? []).map((root) => plan.roots[root] ?? '');
    const written = Promise.all([syncFileSystems([directory, ...landings]), prepared]);
    keepIndexes(plan, toBinary(directory));
    before = await readNewTrees(plan);
    const [refusal] = await written;
    if (refusal !== undefined) throw new Error(refusal);
    intent.publish();
  } catch (error) {
    removeLandings(directory);
    throw error;
  }
  syncNameOf(`${directory}/plan.json`);
  const applied = await applyPlanInSlices(plan, toBinary(directory), before);
  return conclude(directory, plan, await confirmChanges(directory, plan, applied));
}

interface CommitOptions {
  readonly onConflict?: OnConflict;
  readonly waits?: boolean;
  /** The plan is not begun before this resolves. */
  readonly prepared?: Promise<void>;
}

/** The part of a plan that was applied before a failure. */
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
    // A full disk. If this process dies, the next one tries the plan again, and then undoes it.
  }
  return takeBack(directory, plan, back);
}

function takeBack(directory: string, plan: TransactionPlan, { failed, made }: BackPlan): DonePlan {
  const known = new Map(made);
  const left = takeBackPlan(plan, toBinary(directory), known);
  confirmUndoneNow(directory, plan, left);
  if (left.length === 0) removeOldCopies(directory, plan);
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

/** With the prints of the committed entries. */
function withMade(plan: TransactionPlan, made: ReadonlyMap<number, MadeChange>): TransactionPlan {
  const changes = plan.changes.map((change, index) => {
    const print = made.get(index);
    return print === undefined ? change : { ...change, ...print };
  });
  return { ...plan, changes };
}

/** Plans that this process could not finish yet, by directory. */
const unfinished = new Map<string, DonePlan>();

export function isUnfinished(directory: string): boolean {
  return unfinished.has(directory);
}

/** Tries again the changes that failed for lack of space or write access. No command may be running. */
export function finishTransactions(): void {
  for (const [directory, { failed, left, isTakenBack: _, ...plan }] of unfinished) {
    if (left === undefined) makeRest(directory, plan, failed);
    else recoverPlan(directory, plan);
    removeLayers(directory, plan);
  }
}

function makeRest(directory: string, plan: TransactionPlan, failed: readonly FailedChange[]): void {
  const rest = failed.filter(({ isPassing }) => isPassing === true);
  const only = new Set(rest.map(({ index }) => index));
  const again = applyPlan(plan, toBinary(directory), { only, isAgain: true });
  const given = failed.filter((failure) => !rest.includes(failure));
  const spared = new Set(failed.map(({ index }) => index));
  // Earlier changes are known by their prints, and are undone with the rest if necessary.
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
  const confirmed = confirmChangesNow(directory, plan, again);
  conclude(directory, plan, {
    ...confirmed,
    failed: [...given, ...confirmed.failed],
    made: new Map([...before, ...confirmed.made]),
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
    const failed = new Set(done.failed.map(({ index }) => index));
    writeWhole(`${directory}/kept`, `${keptBytes(done)}`);
    const record = stageFile(
      `${directory}/done.json`,
      recordOf(done, (_, index) => failed.has(index)),
    );
    record.sync();
    record.publish();
    for (const name of ['plan.json', 'back.json', 'landings.json', OPENED])
      removeTree(`${directory}/${name}`);
  } catch {
    // A full disk. Another process finds the plan with nothing left to do.
  }
}

/** A plan as text, in parts. Only changes that are not made yet need the place of their new version. */
function* recordOf(
  { changes, ...plan }: TransactionPlan,
  isOpen: (change: PlannedChange, index: number) => boolean,
): Iterable<string> {
  yield `${JSON.stringify(plan).slice(0, -1)},"changes":[`;
  for (let first = 0; first < changes.length; first += CHANGES_A_PART) {
    const part = changes
      .slice(first, first + CHANGES_A_PART)
      .map((change, index) => (isOpen(change, first + index) ? change : { ...change, from: undefined }));
    yield `${first === 0 ? '' : ','}${JSON.stringify(part).slice(1, -1)}`;
  }
  yield ']}';
}

const CHANGES_A_PART = 200;

/** The size of the replaced and removed entries. */
function keptBytes({ changes, isTakenBack }: DonePlan): number {
  return isTakenBack === true ? 0 : changes.reduce((sum, { before }) => sum + (before?.size ?? 0), 0);
}

/**
 * The finished plan for an undo: changes that could not be made so far are given up, even if they were left by a
 * process that is dead. Undefined also if another process is not done with it (`isBegun`).
 */
export function concludeDone(directory: string): DonePlan | undefined {
  const done = readDone(directory);
  if (done !== undefined) return done;
  if (!unfinished.has(directory) && makerOf(directory, KIND) === 'gone') recoverPlanned(directory);
  const left = unfinished.get(directory);
  if (left === undefined) return readDone(directory);
  unfinished.delete(directory);
  removeLandings(directory);
  writeDone(directory, left);
  return left;
}

/** Whether a plan is on disk that no process has finished. */
export function isBegun(directory: string): boolean {
  return readDone(directory) === undefined && readWhole(`${directory}/plan.json`) !== undefined;
}

/** The finished plan; undefined if there is none, or it is too old. */
export function readDone(directory: string): DonePlan | undefined {
  const text = readWhole(`${directory}/done.json`);
  return text === undefined ? undefined : (JSON.parse(text) as DonePlan);
}

/** Removes kept versions of transactions that can no longer be undone. */
export function forgetTransactions(directories: Iterable<string>): void {
  for (const directory of directories) removeTree(directory);
}

/** The outcome of a transaction whose process is dead. */
export interface RecoveredTransaction {
  readonly state: 'committed' | 'discarded';
  /** The changes made and not made; left out if nothing was planned. */
  readonly done?: DonePlan;
}

/** Completes it: planned changes are made, or made changes are undone, and the rest is dropped. */
export function recoverTransaction(directory: string): RecoveredTransaction {
  const done = readDone(directory) ?? recoverPlanned(directory);
  removeLeftLocks(directory);
  if (done === undefined) {
    removeLandings(directory);
    removeTree(directory);
    return { state: 'discarded' };
  }
  return { state: done.isTakenBack === true ? 'discarded' : 'committed', done };
}

function recoverPlanned(directory: string): DonePlan | undefined {
  const text = readWhole(`${directory}/plan.json`);
  if (text === undefined) return undefined;
  const done = recoverPlan(directory, JSON.parse(text) as TransactionPlan);
  removeLayers(directory, done);
  return done;
}

/** Continues a plan that another process, or an earlier attempt, has begun. */
function recoverPlan(directory: string, plan: TransactionPlan): DonePlan {
  const back = readWhole(`${directory}/back.json`);
  if (back !== undefined) return takeBack(directory, plan, JSON.parse(back) as BackPlan);
  const applied = applyPlan(plan, toBinary(directory), { isAgain: true });
  return conclude(directory, plan, confirmChangesNow(directory, plan, applied));
}

/** Whether a path is a transaction's directory: paths from records are checked before use. */
export function isTransactionDirectory(path: string): boolean {
  return /^\/(?:[^/]+\/)+transaction-[0-9a-f]{24}-[0-9a-f]{16}$/.test(path) && !path.includes('/../');
}

/** How long old versions are kept for an undo. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** The fact of a commit is kept longer, for a process that died meanwhile. */
const KNOWN_MS = 365 * 24 * 60 * 60 * 1000;

/** The layers of the roots, including those being removed. */
const LAYERS = /^\d+(?:\.gone)?$/;

/** Completes the transactions of dead processes, and removes old or excess ones. */
export function sweepTransactions(place: string): void {
  const done: { readonly path: string; readonly doneAt: number }[] = [];
  for (const { path, maker } of ownDirectories(place, KIND)) {
    const doneAt = modifiedMs(`${path}/done.json`);
    if (doneAt !== undefined) {
      done.push({ path, doneAt });
      if (maker === 'gone') for (const layers of directoriesOf(path, LAYERS)) removeTree(layers);
    } else if (maker === 'gone') recoverTransaction(path);
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
