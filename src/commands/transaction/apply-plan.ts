import { timeSlices } from '../../platform/clock/time-slices.js';
import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  makeBinaryDirectory,
  removeBinaryDirectory,
  renameBinary,
  setBinaryMode,
} from '../../platform/fs/binary-fs.js';
import { errnoOf } from '../../platform/fs/fs-entry.js';
import {
  type IndexedPrint,
  looksLike,
  type PrintsBefore,
  printsInside,
  ReadingBudget,
} from './committed-prints.js';
import { BlockedPlaces, failureOf } from './failed-steps.js';
import { Conflict, HeldPlaces } from './held-places.js';
import { VersionPlaces } from './landing-directories.js';
import {
  finishOld,
  keepOld,
  moveAside,
  moveInto,
  ownDirectoryOf,
  removePlaced,
  sweepCopy,
  temporaryName,
} from './move-entries.js';
import {
  type EntryPrint,
  type FailedChange,
  isAsPrinted,
  isSameVersion,
  oldVersion,
  type PlannedChange,
  type TransactionPlan,
} from './transaction-plan.js';
import { isAsKnown, knownTree } from './whole-trees.js';

/** The steps of a plan to take. */
export interface ApplyOptions {
  /** The indices of the remaining changes; left out: all, or unknown. */
  readonly only?: ReadonlySet<number>;
  /** An earlier attempt may have completed some steps, and half of one step. */
  readonly isAgain?: boolean;
  /** If absent: everything is read when it is committed. */
  readonly before?: PrintsBefore;
}

/** The result of applying a plan. */
export interface AppliedPlan {
  readonly failed: readonly FailedChange[];
  /** The committed changes by index. */
  readonly made: ReadonlyMap<number, MadeChange>;
  /** A change failed, and the plan must be applied completely or not at all. */
  readonly isStopped: boolean;
}

/** The new and the previous entry. */
export type MadeChange = Pick<PlannedChange, 'before' | 'after' | 'wasThere'>;

/**
 * Applies the changes of a plan in order, or the remaining ones after another process has begun.
 *
 * 1. Every step is repeatable: a step whose new version is no longer in its prepared place has been taken.
 * 2. An entry is replaced or removed only if it is as the plan expects; otherwise the change fails.
 * 3. Replaced and removed entries are kept in the transaction's directory, completely or not at all.
 * 4. Every entry is reached through its open directory, so no link can redirect a change.
 *
 * @param directory of the transaction; contains `old`
 */
export function applyPlan(
  plan: TransactionPlan,
  directory: BinaryPath,
  options: ApplyOptions = {},
): AppliedPlan {
  const steps = applySteps(plan, directory, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The same in slices, so that other work can run in between. */
export async function applyPlanInSlices(
  plan: TransactionPlan,
  directory: BinaryPath,
  before: PrintsBefore,
): Promise<AppliedPlan> {
  const steps = applySteps(plan, directory, { before });
  const slice = timeSlices();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (slice.isOver()) await slice.next();
  }
}

/** Yields the index of each change it has passed. */
export function* applySteps(
  plan: TransactionPlan,
  directory: BinaryPath,
  { only, isAgain = false, before }: ApplyOptions = {},
): Generator<number, AppliedPlan> {
  const places = new HeldPlaces(plan, directory);
  const versions = new VersionPlaces(plan, directory);
  const failed: FailedChange[] = [];
  const made = new Map<number, MadeChange>();
  const blocked = new BlockedPlaces();
  const { reading = new ReadingBudget(), trees } = before ?? {};
  try {
    for (const [index, change] of plan.changes.entries()) {
      if (change.isInside === true || only?.has(index) === false) continue;
      try {
        const step = { plan, index, change, directory, places, versions, isAgain, reading, trees };
        made.set(index, takeStep(step));
        for (const [inside, print] of committedInside(step)) made.set(inside, { after: print });
      } catch (error) {
        const failure = blocked.explain(change, failureOf(error));
        failed.push({ index, ...failure });
        if (plan.onConflict === 'takeBack' && (failure.isPassing !== true || plan.waits === false)) {
          return { failed, made, isStopped: true };
        }
      }
      yield index;
    }
    return { failed, made, isStopped: false };
  } finally {
    places.setModes();
    places.close();
    versions.close();
  }
}

/** One change to apply or to undo. */
export interface PlacedStep {
  readonly plan: TransactionPlan;
  readonly index: number;
  readonly change: PlannedChange;
  readonly directory: BinaryPath;
  readonly places: HeldPlaces;
  readonly versions: VersionPlaces;
}

interface Step extends PlacedStep {
  readonly isAgain: boolean;
  readonly reading: ReadingBudget;
  readonly trees: PrintsBefore['trees'] | undefined;
}

/** A directory that its owner may not write is made writable for the step. */
export function withOpenWay<S extends PlacedStep, T>(step: S, take: (step: S) => T): T {
  try {
    return take(step);
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error;
    step.places.openUp(step.change);
    openWay(step);
    return take(step);
  }
}

function takeStep(step: Step): MadeChange {
  // A refused attempt may have taken half of the step.
  let { isAgain } = step;
  return withOpenWay(step, (one) => {
    const attempt = { ...one, isAgain };
    isAgain = true;
    return STEPS[step.change.change](attempt);
  });
}

/** The same for the directories with the new version: they are ours, and are empty at the end. */
function openWay({ change: { from }, directory }: PlacedStep): void {
  const own = `${(from === undefined ? undefined : ownDirectoryOf(from)) ?? directory}/`;
  if (from === undefined || !from.startsWith(own)) return;
  for (let end = from.indexOf('/', own.length); end !== -1; end = from.indexOf('/', end + 1)) {
    const above = from.slice(0, end);
    const mode = binaryEntry(above)?.mode ?? 0o700;
    if ((mode & 0o700) !== 0o700) setBinaryMode(above, mode | 0o700);
  }
}

const STEPS: Readonly<Record<PlannedChange['change'], (step: Step) => MadeChange>> = {
  create,
  modify,
  delete: remove,
};

function create(step: Step): MadeChange {
  const { change, index, places, versions } = step;
  const at = places.at(change);
  if (change.kind === 'dir' && change.isTree !== true) return createDirectory(step, at);
  const from = versions.newOf(change, index);
  if (isTaken(step, at)) return committed(step, at);
  if (from === undefined) throw new Error('its new version was not prepared');
  const there = binaryEntry(at);
  if (there !== undefined) {
    if (!step.isAgain || !isSameVersion(at, from)) throw new Conflict(TAKEN);
    // Its process died between creating the second name and removing the first.
    removePlaced(from, at);
    return committed(step, at);
  }
  const replaces = change.isTree === true || places.isNew(change);
  moveInto({ from, at, replaces, temporary: temporaryOf(step) });
  return committed(step, at);
}

const TAKEN = 'something else has been put there';

/** An earlier process passed it: its prepared place is empty, or the next name exists already. */
function isTaken(step: Step, at: BinaryPath): boolean {
  if (!step.isAgain) return false;
  sweepCopy(at, temporaryOf(step));
  const from = step.versions.newOf(step.change, step.index);
  return from === undefined || binaryEntry(from) === undefined;
}

function temporaryOf({ directory, index }: Step): string {
  return temporaryName(directory, index);
}

function createDirectory({ change, places, isAgain }: Step, at: BinaryPath): MadeChange {
  const there = binaryEntry(at);
  if (there === undefined) {
    makeBinaryDirectory(at, 0o700);
    places.made(change);
  } else if (there.kind !== 'dir') throw new Conflict(TAKEN);
  if (change.after !== undefined) places.keepMode(change, change.after.mode);
  return there === undefined || isAgain ? {} : { wasThere: true };
}

function modify(step: Step): MadeChange {
  const { change, places, versions, index } = step;
  const at = places.at(change);
  const { before, after } = change;
  if (change.kind === 'dir') {
    const there = binaryEntry(at);
    if (there?.kind !== 'dir') throw new Conflict('it is no longer a directory');
    if (!hasOneOf(there.mode, [before, after])) throw new Conflict(CHANGED);
    if (after !== undefined) places.keepMode(change, after.mode);
    return {};
  }
  const old = versions.oldOf(change, index);
  if (!isTaken(step, at)) {
    const from = versions.newOf(change, index);
    if (from === undefined) throw new Error('its new version was not prepared');
    if (isAsPrinted(at, before)) {
      if (binaryEntry(old) === undefined) keepOld(at, old);
      moveInto({ from, at, replaces: true, temporary: temporaryOf(step) });
    } else if (step.isAgain && isSameVersion(at, from)) removePlaced(from, at);
    else throw new Conflict(CHANGED);
  }
  finishOld(old);
  return committed(step, at);
}

/** Steps make directories writable for their owner, so they may have more bits than before. */
function hasOneOf(mode: number, prints: readonly (EntryPrint | undefined)[]): boolean {
  const known = prints.flatMap((print) => (print === undefined ? [] : [(print.mode & 0o1777) | 0o300]));
  return known.length === 0 || known.includes((mode & 0o1777) | 0o300);
}

const CHANGED = 'another program changed it while the command ran';

function remove(step: Step): MadeChange {
  const { change, versions, index } = step;
  const old = versions.oldOf(change, index);
  const at = placeOfRemoved(step);
  if (at === undefined) return keptOld(step);
  const there = binaryEntry(at);
  if (change.kind === 'dir') {
    if (there !== undefined && !(there.kind !== 'dir' && wasTaken(step))) removeDirectory(step, at, there);
    if (change.isTree === true) requireWhole(step, at, old);
    return {};
  }
  if (there === undefined) return keptOld(step);
  if (!isAsPrinted(at, change.before)) {
    if (wasTaken(step)) return keptOld(step);
    throw new Conflict(CHANGED);
  }
  moveAside(at, old);
  return keptOld(step);
}

/** Undefined: an earlier attempt has removed it, and then its directory. */
function placeOfRemoved(step: Step): BinaryPath | undefined {
  const { plan, change, index, versions, places, isAgain } = step;
  try {
    return places.at(change);
  } catch (error) {
    const isGone =
      isAgain && (change.kind === 'dir' || binaryEntry(versions.oldOf(change, index)) !== undefined);
    if (!(error instanceof Conflict) || !isGone || !goesWithDirectory(plan, change)) throw error;
    return undefined;
  }
}

function goesWithDirectory({ changes }: TransactionPlan, { root, path }: PlannedChange): boolean {
  return changes.some(
    (one) =>
      one.change === 'delete' && one.kind === 'dir' && one.root === root && path.startsWith(`${one.path}/`),
  );
}

/** An earlier attempt has removed it, and may have put a new version of another kind in its place. */
function wasTaken({ plan, index, change, versions, isAgain }: Step): boolean {
  if (!isAgain) return false;
  if (binaryEntry(versions.oldOf(change, index)) !== undefined) return true;
  const next = plan.changes.findIndex(
    (one, at) =>
      at > index && one.change === 'create' && one.root === change.root && one.path === change.path,
  );
  const created = plan.changes[next];
  const from = created === undefined ? undefined : versions.newOf(created, next);
  return from !== undefined && binaryEntry(from) === undefined;
}

function removeDirectory({ change, directory, index }: Step, at: BinaryPath, there: BinaryEntry): void {
  if (there.kind !== 'dir' || !hasOneOf(there.mode, [change.before])) throw new Conflict(CHANGED);
  if (change.isTree === true) renameBinary(at, oldVersion(directory, index));
  else removeBinaryDirectory(at);
}

/**
 * The directory is checked in a private place. If another program has put something into it, it is moved
 * back.
 */
function requireWhole({ plan, index }: Step, at: BinaryPath, old: BinaryPath): void {
  if (binaryEntry(old) === undefined || isAsKnown(old, knownTree(plan.changes, index, 'before'))) return;
  if (binaryEntry(at) !== undefined) throw new Conflict(`${CHANGED}; its old content is in "${old}"`);
  renameBinary(old, at);
  throw new Conflict('another program has changed something in it');
}

/** The same for the content of a new directory. */
function committedInside(step: Step): Iterable<IndexedPrint> {
  const { plan, index, change, places, reading, trees } = step;
  if (change.change !== 'create' || change.isTree !== true) return [];
  return trees?.get(index) ?? printsInside(plan, index, places.at(change), reading);
}

/** The new version as other programs see it. */
function committed({ change, directory, index, reading, isAgain }: Step, at: BinaryPath): MadeChange {
  const print = change.isTree === true ? undefined : reading.print(at);
  const isOurs = print !== undefined && (!isAgain || looksLike(print, change.after));
  const after = isOurs ? { after: print } : {};
  if (change.change !== 'modify') return after;
  return { ...after, ...beforeOf(change, oldVersion(directory, index), reading) };
}

function keptOld({ change, directory, index, reading }: Step): MadeChange {
  return beforeOf(change, oldVersion(directory, index), reading);
}

/** A kept copy is described by its content: the original's numbers mean nothing after a restore. */
function beforeOf({ before }: PlannedChange, old: BinaryPath, reading: ReadingBudget): MadeChange {
  if (before === undefined || before.content !== undefined) return {};
  const kept = binaryEntry(old);
  if (kept === undefined || (kept.ino === before.ino && kept.dev === before.dev)) return {};
  const content = reading.print(old)?.content;
  return content === undefined ? {} : { before: { ...before, content } };
}
