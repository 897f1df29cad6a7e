import { randomBytes } from 'node:crypto';
import { timeSlices } from '../../platform/clock/time-slices.js';
import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  copyBinary,
  type HeldDirectory,
  holdDirectory,
  linkBinary,
  makeBinaryDirectory,
  removeBinary,
  removeBinaryDirectory,
  renameBinary,
  setBinaryMode,
} from '../../platform/fs/binary-fs.js';
import { describeErrno, errnoOf } from '../../platform/fs/fs-entry.js';
import { ownTag } from '../../platform/process/process-tag.js';
import {
  type FailedChange,
  isAsPrinted,
  oldVersion,
  type PlannedChange,
  type TransactionPlan,
} from './transaction-plan.js';

/**
 * Makes the changes of a plan, in order, or those that are left of it where another process has begun.
 *
 * 1. Every step can be taken again: a step whose new version is not where it was prepared has been taken.
 * 2. Nothing is replaced or removed that is not what it was when the plan was made: such a change fails, and is told.
 * 3. What is replaced or removed is kept in the transaction's directory.
 * 4. Every entry is reached through its directory, which is held: no link can lead a change elsewhere.
 *
 * @param directory of the transaction; its `old` is there
 */
export function applyPlan(plan: TransactionPlan, directory: BinaryPath): readonly FailedChange[] {
  const steps = applySteps(plan, directory);
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
): Generator<number, readonly FailedChange[]> {
  const places = new HeldPlaces(plan.roots);
  const failed: FailedChange[] = [];
  try {
    for (const [index, change] of plan.changes.entries()) {
      if (change.isInside === true) continue;
      try {
        takeStep({ change, old: oldVersion(directory, index), places });
      } catch (error) {
        failed.push({ index, ...failureOf(error) });
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

/** What a directory has of set-group-ID it has from the one above, not from the command. */
function setDirectoryMode(at: BinaryPath, mode: number): void {
  const there = binaryEntry(at);
  if (there?.kind !== 'dir' || (there.mode & 0o1777) === (mode & 0o1777)) return;
  setBinaryMode(at, (mode & 0o1777) | (there.mode & 0o6000));
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
    copyBinary(at, old);
  }
}

function moveAside(at: BinaryPath, old: BinaryPath): void {
  try {
    renameBinary(at, old);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    if (binaryEntry(old) !== undefined) removeBinary(old);
    copyBinary(at, old);
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
    copyBinary(from, temporary);
    try {
      if (replaces) renameBinary(temporary, at);
      else rename(temporary, at);
    } catch (failure) {
      removeBinary(temporary);
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

/** Others have been there. */
class Conflict extends Error {}

function failureOf(error: unknown): Omit<FailedChange, 'index'> {
  if (error instanceof Conflict) return { reason: error.message, isConflict: true };
  const errno = errnoOf(error);
  if (errno === undefined) throw error;
  const isConflict = errno === 'ENOTEMPTY' || errno === 'EEXIST';
  return {
    reason: isConflict ? 'others have put something into it' : `${describeErrno(errno)} (${errno})`,
    isConflict,
  };
}

/** Directories that are held while changes are made in them: those on the way to the last one. */
class HeldPlaces {
  readonly #roots: readonly string[];
  readonly #made = new Set<string>();
  /** What directories are to have in the end, in the order in which that was said. */
  readonly #modes = new Map<string, { readonly change: PlannedChange; readonly mode: number }>();
  #root: number | undefined;
  #held: { readonly name: BinaryPath; readonly directory: HeldDirectory }[] = [];

  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** The entry of a change, through the directory that it is in. */
  at({ root, path }: PlannedChange): BinaryPath {
    const names = path.split('/');
    const name = names.pop() ?? '';
    return `${this.#hold(root, names).at}/${name}`;
  }

  made({ root, path }: PlannedChange): void {
    this.#made.add(`${root}/${path}`);
  }

  /** The directory of a change was made just now, so that nothing can be in its place. */
  isNew({ root, path }: PlannedChange): boolean {
    const slash = path.lastIndexOf('/');
    return slash !== -1 && this.#made.has(`${root}/${path.slice(0, slash)}`);
  }

  /** Sets it when all that is in the directory is in its place. */
  keepMode(change: PlannedChange, mode: number): void {
    this.#modes.set(`${change.root}/${change.path}`, { change, mode });
  }

  /** Lets the owner write in the directory of a change, for now. */
  openUp({ root, path }: PlannedChange): void {
    const slash = path.lastIndexOf('/');
    if (slash === -1) return;
    const change: PlannedChange = { change: 'modify', kind: 'dir', root, path: path.slice(0, slash) };
    const at = this.at(change);
    const there = binaryEntry(at);
    if (there?.kind !== 'dir' || (there.mode & 0o300) === 0o300) return;
    if (!this.#modes.has(`${root}/${change.path}`)) this.keepMode(change, there.mode);
    setBinaryMode(at, there.mode | 0o300);
  }

  /** The innermost first: the mode of one may close the way to the next. */
  setModes(): void {
    for (const { change, mode } of [...this.#modes.values()].reverse()) {
      try {
        setDirectoryMode(this.at(change), mode);
      } catch {
        // It is gone again, or others have it now.
      }
    }
    this.#modes.clear();
  }

  close(): void {
    for (const { directory } of this.#held.splice(0)) directory.close();
    this.#root = undefined;
  }

  #hold(root: number, names: readonly BinaryPath[]): HeldDirectory {
    if (this.#root !== root) this.close();
    if (this.#held.length === 0) {
      const directory = holdDirectory(this.#roots[root] ?? '');
      if (directory === undefined) throw new Conflict('the root is gone or was replaced');
      this.#held = [{ name: '', directory }];
      this.#root = root;
    }
    let depth = 0;
    while (depth < names.length && this.#held[depth + 1]?.name === names[depth]) depth++;
    for (const { directory } of this.#held.splice(depth + 1)) directory.close();
    for (const name of names.slice(depth)) {
      const directory = this.#held.at(-1)?.directory.enter(name);
      if (directory === undefined)
        throw new Conflict('the directory that it is in is gone or has become a link');
      this.#held.push({ name, directory });
    }
    const last = this.#held.at(-1);
    if (last === undefined) throw new Error('a root is held');
    return last.directory;
  }
}
