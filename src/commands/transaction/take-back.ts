import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  linkBinary,
  makeBinaryDirectory,
  removeBinary,
  removeBinaryDirectory,
  renameBinary,
} from '../../platform/fs/binary-fs.js';
import { errnoOf } from '../../platform/fs/fs-entry.js';
import { type MadeChange, type PlacedStep as Step, withOpenWay } from './apply-plan.js';
import { failureOf } from './failed-steps.js';
import { Conflict, HeldPlaces } from './held-places.js';
import { VersionPlaces } from './landing-directories.js';
import { copyToOurs, finishOld, moveInto, sweepCopy, temporaryName } from './move-entries.js';
import {
  type FailedChange,
  isAsPrinted,
  isSameVersion,
  type PlannedChange,
  type TransactionPlan,
} from './transaction-plan.js';
import { isAsKnown, knownTree } from './whole-trees.js';

/**
 * Undoes the applied part of a plan, last change first: new versions return to their prepared place, and old
 * ones from where they were kept. A change that another program has changed again stays.
 *
 * Every step is repeatable: a step whose old version is no longer kept, or whose new version is in its
 * prepared place, has been taken.
 *
 * @returns the changes that stay
 */
export function takeBackPlan(
  plan: TransactionPlan,
  directory: BinaryPath,
  made: ReadonlyMap<number, MadeChange>,
): readonly FailedChange[] {
  const places = new HeldPlaces(plan, directory);
  const versions = new VersionPlaces(plan, directory);
  const stay: FailedChange[] = [];
  try {
    for (const [index, was] of [...made].sort(([one], [other]) => other - one)) {
      const planned = plan.changes[index];
      if (planned === undefined || planned.isInside === true) continue;
      const step = { plan, index, change: { ...planned, ...was }, directory, places, versions };
      try {
        if (!isBack(step)) withOpenWay(step, takeBack);
      } catch (error) {
        stay.push({ index, ...failureOf(error) });
      }
    }
    return stay.reverse();
  } finally {
    places.setModes();
    places.close();
    versions.close();
  }
}

/** Decided without the root: an earlier attempt passed it, and its directory may be gone. */
function isBack({ change, index, places, versions }: Step): boolean {
  const from = versions.newOf(change, index);
  if (change.change !== 'create') return false;
  const isReturned = from === undefined || binaryEntry(from) !== undefined;
  return isReturned && !places.hasWay(change);
}

function takeBack(step: Step): void {
  const at = step.places.at(step.change);
  const there = binaryEntry(at);
  sweepCopy(at, temporaryName(step.directory, step.index));
  if (step.change.kind === 'dir' && step.change.isTree !== true)
    DIRECTORY_STEPS[step.change.change](step, at, there);
  else STEPS[step.change.change](step, at, there);
}

type TakeBack = (step: Step, at: BinaryPath, there: BinaryEntry | undefined) => void;

const DIRECTORY_STEPS: Readonly<Record<PlannedChange['change'], TakeBack>> = {
  create({ change }, at, there) {
    if (there?.kind === 'dir' && change.wasThere !== true) removeBinaryDirectory(at);
  },
  modify({ change: { before, after }, change, places }, _at, there) {
    if (there?.kind !== 'dir' || before === undefined) return;
    // It was not set yet, or is temporarily opened for steps inside, or another program has set another mode.
    const isOurs = ((there.mode ^ (after?.mode ?? 0)) & 0o1477) === 0;
    if (isOurs) places.keepMode(change, before.mode);
    else if (((there.mode ^ before.mode) & 0o1477) !== 0) throw new Conflict(AGAIN);
  },
  delete({ change, places }, at, there) {
    if (there === undefined) makeBinaryDirectory(at, 0o700);
    else if (there.kind !== 'dir') throw new Conflict(TAKEN);
    // An earlier attempt may have made it, and died before its mode was set.
    const isOurs = there === undefined || (there.mode & 0o777) === 0o700;
    if (isOurs && change.before !== undefined) places.keepMode(change, change.before.mode);
  },
};

const AGAIN = 'another program has changed it again';
const TAKEN = 'another program has put something else there';

const STEPS: Readonly<Record<PlannedChange['change'], TakeBack>> = {
  create(step, at, there) {
    const from = step.versions.newOf(step.change, step.index);
    if (there === undefined || from === undefined) return;
    const isBack = binaryEntry(from) !== undefined;
    if (!isAsMade(step, at)) {
      if (!isBack) throw new Conflict(AGAIN);
    } else if (isBack) removeBinary(at);
    else returnNew(at, from, true);
  },
  modify(step, at, there) {
    const { change, directory, index, versions } = step;
    const old = versions.oldOf(change, index);
    const from = versions.newOf(change, index);
    finishOld(old);
    // It is restored, or was too large to be kept.
    if (binaryEntry(old) === undefined) {
      if (from !== undefined && binaryEntry(from) === undefined) throw new Conflict(NOT_KEPT);
      return;
    }
    // Another program has removed it, and would have removed the old one.
    if (there === undefined) return;
    if (!isAsMade(step, at)) {
      if (!isSameVersion(at, old)) throw new Conflict(AGAIN);
      removeBinary(old);
      return;
    }
    if (from !== undefined && binaryEntry(from) === undefined) returnNew(at, from, false);
    moveInto({ from: old, at, replaces: true, temporary: temporaryName(directory, index) });
  },
  delete({ change, directory, index, versions }, at, there) {
    const old = versions.oldOf(change, index);
    if (binaryEntry(old) === undefined) {
      if (there === undefined) throw new Conflict(NOT_KEPT);
      return;
    }
    if (isSameVersion(at, old)) removeBinary(old);
    else if (there !== undefined) throw new Conflict(TAKEN);
    else if (change.isTree === true) renameBinary(old, at);
    else moveInto({ from: old, at, replaces: false, temporary: temporaryName(directory, index) });
  },
};

const NOT_KEPT = 'its old version was not kept';

function isAsMade({ plan, index, change }: Step, at: BinaryPath): boolean {
  if (!isAsPrinted(at, change.after)) return false;
  return change.isTree !== true || isAsKnown(at, knownTree(plan.changes, index, 'after'));
}

/**
 * The new version returns to where the command left it, for later reading. @param goes also remove its name
 * in the root
 */
function returnNew(at: BinaryPath, from: BinaryPath, goes: boolean): void {
  try {
    if (goes) renameBinary(at, from);
    else linkBinary(at, from);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== 'EXDEV' && (goes || errno === 'ENOENT')) throw error;
    copyToOurs(at, from);
    if (goes) removeBinary(at);
  }
}
