import { randomBytes } from 'node:crypto';
import { timeSlices } from '../../platform/clock/time-slices.js';
import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  copyBinary,
  linkBinary,
  makeBinaryDirectory,
  removeBinary,
  removeBinaryDirectory,
  renameBinary,
  setBinaryMode,
} from '../../platform/fs/binary-fs.js';
import { describeErrno, errnoOf } from '../../platform/fs/fs-entry.js';
import { ownTag } from '../../platform/process/process-tag.js';
import { Conflict, HeldPlaces } from './held-places.js';
import {
  type FailedChange,
  isAsPrinted,
  KEPT_BYTES,
  oldVersion,
  type PlannedChange,
  type TransactionPlan,
} from './transaction-plan.js';

/**
 * Makes the changes of a plan, in order, or those that are left of it where another process has begun.
 *
 * 1. Every step can be taken again: a step whose new version is not where it was prepared has been taken.
 * 2. Nothing is replaced or removed that is not what it was when the plan was made: such a change fails, and is told.
 * 3. What is replaced or removed is kept in the transaction's directory, whole or not at all.
 * 4. Every entry is reached through its directory, which is held: no link can lead a change elsewhere.
 *
 * @param directory of the transaction; its `old` is there
 * @param only the places of the changes that are left to be made; left out: it is not known which
 */
export function applyPlan(
  plan: TransactionPlan,
  directory: BinaryPath,
  only?: ReadonlySet<number>,
): readonly FailedChange[] {
  const steps = applySteps(plan, directory, only);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The same in slices: what else waits has its turn in between. */
export async function applyPlanInSlices(
  plan: TransactionPlan,
  directory: BinaryPath,
): Promise<readonly FailedChange[]> {
  const steps = applySteps(plan, directory);
  const slice = timeSlices();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (slice.isOver()) await slice.next();
  }
}

/** Gives the place of each change that it has come past. */
export function* applySteps(
  plan: TransactionPlan,
  directory: BinaryPath,
  only?: ReadonlySet<number>,
): Generator<number, readonly FailedChange[]> {
  const places = new HeldPlaces(plan);
  const failed: FailedChange[] = [];
  const blocked = new BlockedPlaces();
  try {
    for (const [index, change] of plan.changes.entries()) {
      if (change.isInside === true || only?.has(index) === false) continue;
      try {
        takeStep({ change, old: oldVersion(directory, index), places });
      } catch (error) {
        failed.push({ index, ...blocked.explain(change, failureOf(error)) });
      }
      yield index;
    }
    return failed;
  } finally {
    places.setModes();
    places.close();
  }
}

/** A directory that its owner may not write in is opened for the step. */
function takeStep(step: Step): void {
  try {
    STEPS[step.change.change](step);
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error;
    step.places.openUp(step.change);
    openWay(step);
    STEPS[step.change.change](step);
  }
}

/** The same with the directories that the new version lies in: those are ours, and nothing is left in them. */
function openWay({ change: { from }, old }: Step): void {
  const own = old.slice(0, old.lastIndexOf('/old/') + 1);
  if (from === undefined || !from.startsWith(own)) return;
  for (let end = from.indexOf('/', own.length); end !== -1; end = from.indexOf('/', end + 1)) {
    const directory = from.slice(0, end);
    const mode = binaryEntry(directory)?.mode ?? 0o700;
    if ((mode & 0o700) !== 0o700) setBinaryMode(directory, mode | 0o700);
  }
}

interface Step {
  readonly change: PlannedChange;
  /** Where the old version goes. */
  readonly old: BinaryPath;
  readonly places: HeldPlaces;
}

const STEPS: Readonly<Record<PlannedChange['change'], (step: Step) => void>> = {
  create,
  modify,
  delete: remove,
};

function create({ change, places }: Step): void {
  const at = places.at(change);
  if (change.kind === 'dir' && change.isTree !== true) {
    createDirectory(at, change, places);
    return;
  }
  const { from } = change;
  if (from === undefined || binaryEntry(from) === undefined) return;
  const there = binaryEntry(at);
  if (there !== undefined) {
    // Its process died between the second name and the end of the first.
    if (isSameEntry(there, binaryEntry(from))) removeBinary(from);
    else throw new Conflict('something else has been put there');
    return;
  }
  if (change.isTree === true || places.isNew(change)) moveInto(from, at, true);
  else moveInto(from, at, false);
}

function isSameEntry(one: BinaryEntry, other: BinaryEntry | undefined): boolean {
  return other !== undefined && one.ino === other.ino && one.dev === other.dev && one.kind !== 'dir';
}

function createDirectory(at: BinaryPath, change: PlannedChange, places: HeldPlaces): void {
  const there = binaryEntry(at);
  if (there === undefined) {
    makeBinaryDirectory(at, 0o700);
    places.made(change);
  } else if (there.kind !== 'dir') throw new Conflict('something else has been put there');
  if (change.after !== undefined) places.keepMode(change, change.after.mode);
}

function modify({ change, old, places }: Step): void {
  const at = places.at(change);
  const { from, before, after } = change;
  if (change.kind === 'dir') {
    if (binaryEntry(at)?.kind !== 'dir') throw new Conflict('it is no directory any more');
    if (after !== undefined) places.keepMode(change, after.mode);
    return;
  }
  if (from === undefined || binaryEntry(from) === undefined) return;
  if (!isAsPrinted(binaryEntry(at), before)) throw new Conflict(CHANGED);
  if (binaryEntry(old) === undefined) keepOld(at, old);
  moveInto(from, at, true);
}

const CHANGED = 'it was changed by others while the command ran';

function remove({ change, old, places }: Step): void {
  const at = places.at(change);
  const there = binaryEntry(at);
  if (there === undefined) return;
  if (!isAsPrinted(there, change.before)) throw new Conflict(CHANGED);
  if (change.kind === 'dir' && change.isTree !== true) removeBinaryDirectory(at);
  else moveAside(at, old);
}

/** Gives what is to be replaced a second name, so that its own is never without a file. */
function keepOld(at: BinaryPath, old: BinaryPath): void {
  try {
    linkBinary(at, old);
  } catch (error) {
    if (!isElsewhere(error)) throw error;
    copyWhole(at, old);
  }
}

/** Half a copy never has the name: it would be taken for the whole. */
function copyWhole(from: BinaryPath, to: BinaryPath): void {
  // No more than that is kept of all transactions together.
  if ((binaryEntry(from)?.size ?? 0) > KEPT_BYTES) return;
  const part = `${to}.part`;
  if (binaryEntry(part) !== undefined) removeBinary(part);
  try {
    copyBinary(from, part);
    renameBinary(part, to);
  } catch (error) {
    if (binaryEntry(part) !== undefined) removeBinary(part);
    throw error;
  }
}

function moveAside(at: BinaryPath, old: BinaryPath): void {
  try {
    renameBinary(at, old);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    copyWhole(at, old);
    removeBinary(at);
  }
}

/** @param replaces whatever is there; else nothing may be. */
function moveInto(from: BinaryPath, at: BinaryPath, replaces: boolean): void {
  try {
    if (replaces) renameBinary(from, at);
    else rename(from, at);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    const temporary = `${at.slice(0, at.lastIndexOf('/'))}/.toolexec-a${ownTag()}${randomBytes(6).toString('hex')}.tmp`;
    try {
      copyBinary(from, temporary);
      if (replaces) renameBinary(temporary, at);
      else rename(temporary, at);
    } catch (failure) {
      if (binaryEntry(temporary) !== undefined) removeBinary(temporary);
      throw failure;
    }
    removeBinary(from);
  }
}

/** Fails where the name is taken: the only check that cannot be raced. */
function rename(from: BinaryPath, at: BinaryPath): void {
  try {
    linkBinary(from, at);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST') throw new Conflict('something else has been put there');
    if (errno !== 'EPERM' && errno !== 'EMLINK' && errno !== 'ENOTSUP' && errno !== 'EOPNOTSUPP') throw error;
    renameBinary(from, at);
    return;
  }
  removeBinary(from);
}

function isElsewhere(error: unknown): boolean {
  return ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP'].includes(errnoOf(error) ?? '');
}

function failureOf(error: unknown): Omit<FailedChange, 'index'> {
  if (error instanceof Conflict) return { reason: error.message, isConflict: true };
  const errno = errnoOf(error);
  if (errno === 'ENOTEMPTY' || errno === 'EEXIST')
    return { reason: 'others have put something into it', isConflict: true };
  const reason =
    errno === undefined
      ? error instanceof Error
        ? error.message
        : String(error)
      : `${describeErrno(errno)} (${errno})`;
  return { reason, isConflict: false, ...(PASSING.has(errno) ? { isPassing: true } : {}) };
}

/** The rest of the plan goes on, and what has failed is tried again later. */
const PASSING: ReadonlySet<string | undefined> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ENOMEM', 'EMFILE', 'ENFILE', 'EBUSY', 'EAGAIN'],
  undefined,
]);

/** What follows from a change that cannot be made for now: nothing in a directory that is not there yet can be. */
class BlockedPlaces {
  /** The reasons, by root and path. */
  readonly #below = new Map<string, string>();
  readonly #above = new Map<string, string>();

  explain({ root, path }: PlannedChange, failure: Omit<FailedChange, 'index'>): Omit<FailedChange, 'index'> {
    const names = path.split('/');
    const above = names.map((_, index) => `${root}/${names.slice(0, index + 1).join('/')}`);
    if (failure.isPassing === true) {
      this.#below.set(`${root}/${path}`, failure.reason);
      for (const place of above) this.#above.set(place, failure.reason);
      return failure;
    }
    const blocker = above.find((place) => this.#below.has(place));
    const reason = blocker === undefined ? this.#above.get(`${root}/${path}`) : this.#below.get(blocker);
    return reason === undefined ? failure : { reason, isConflict: false, isPassing: true };
  }
}
