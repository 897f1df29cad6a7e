import { randomBytes } from 'node:crypto';
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
  type EntryPrint,
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
export function applyPlan(
  plan: TransactionPlan,
  directory: BinaryPath,
  afterEach: (index: number) => void = () => {},
): readonly FailedChange[] {
  const places = new HeldPlaces(plan.roots);
  const failed: FailedChange[] = [];
  try {
    plan.changes.forEach((change, index) => {
      if (change.isInside === true) return;
      try {
        const step = { change, old: oldVersion(directory, index), places };
        STEPS[change.change](step);
      } catch (error) {
        failed.push({ index, ...failureOf(error) });
      }
      afterEach(index);
    });
    return failed;
  } finally {
    places.close();
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
  setDirectoryMode(at, change.after);
}

/** What a directory has of set-group-ID it has from the one above, not from the command. */
function setDirectoryMode(at: BinaryPath, after: EntryPrint | undefined): void {
  const there = binaryEntry(at);
  if (after === undefined || there === undefined || (there.mode & 0o1777) === (after.mode & 0o1777)) return;
  setBinaryMode(at, (after.mode & 0o1777) | (there.mode & 0o6000));
}

function modify({ change, old, places }: Step): void {
  const at = places.at(change);
  const { from, before, after } = change;
  if (change.kind === 'dir') {
    if (binaryEntry(at)?.kind !== 'dir') throw new Conflict('it is no directory any more');
    setDirectoryMode(at, after);
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
