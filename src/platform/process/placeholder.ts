import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { sleepSync } from '../clock/clock.js';
import { errnoOf, makeDirectory } from '../fs/fs-entry.js';
import { fateOf, ownTag, TAG_DIGITS } from './process-tag.js';

export interface Placeholder {
  /**
   * An empty directory in the placeholder, shared by all programs that use it. Its content stays until the last of them
   * ends.
   */
  readonly inner: string;
  readonly release: () => void;
}

/**
 * Called when no program uses the placeholder: moves what should be kept out of `inner`. The rest is
 * removed.
 */
export type KeepMade = (inner: string, path: string) => void;

/**
 * Makes a directory for as long as a command needs it, so that something can be mounted on it. Every user of
 * the directory has a file in it, so that only the last one to leave, in whichever process, removes it.
 * Undefined if another program has made a directory there meanwhile, or it cannot be made.
 */
export function holdPlaceholder(path: string, keepMade: KeepMade): Placeholder | undefined {
  const count = holders.get(path)?.count;
  if (count === undefined && !enter(path)) return undefined;
  tidyAtExit();
  holders.set(path, { count: (count ?? 0) + 1, keepMade });
  attempt(() => mkdirSync(`${path}/${INNER}`));
  return { inner: `${path}/${INNER}`, release: () => leave(path) };
}

/** Removes placeholders of processes that were killed. */
export function sweepPlaceholder(path: string, keepMade: KeepMade): void {
  if (!holders.has(path) && isPlaceholder(path)) takeAway(path, keepMade);
}

/** Whether a directory is only a placeholder. */
export function isPlaceholder(path: string): boolean {
  try {
    return holders.has(path) || isMarked(path);
  } catch {
    return false;
  }
}

/** How many parts of this process use each placeholder. */
const holders = new Map<string, { readonly count: number; readonly keepMade: KeepMade }>();

let isTidied = false;

function tidyAtExit(): void {
  if (isTidied) return;
  isTidied = true;
  process.once('exit', () => {
    for (const [path, { keepMade }] of holders) takeAway(path, keepMade);
  });
}

function leave(path: string): void {
  const { count, keepMade } = holders.get(path) ?? {};
  if (count === undefined || keepMade === undefined) return;
  if (count > 1) {
    holders.set(path, { count: count - 1, keepMade });
    return;
  }
  holders.delete(path);
  takeAway(path, keepMade);
}

function takeAway(path: string, keepMade: KeepMade): void {
  if (!startLeaving(path)) return;
  // Usually the directory is empty.
  if (!attempt(() => rmdirSync(`${path}/${INNER}`))) keepRest(path, keepMade);
  left(path);
}

/** Moves out what should be kept, unless the directory is gone. */
function keepRest(path: string, keepMade: KeepMade): void {
  // With this name it is no longer recognized as a placeholder.
  const taken = `${path}/${INNER}-${OWN}`;
  attempt(() => {
    renameSync(`${path}/${INNER}`, taken);
    keepMade(taken, path);
  });
  attempt(() => rmSync(taken, { recursive: true, force: true }));
}

/** The directory in which the programs work. */
const INNER = 'toolexec-new';

/** Every thread has its own. */
const OWN = randomBytes(4).toString('hex');

/**
 * Makes the directory if there is none, and records in it that this process uses it. A process that leaves
 * records that before it looks for other users; a process that enters records that before it looks for others
 * that leave. So one of the two always sees the other.
 * @returns false if the directory belongs to another program, or cannot be made.
 */
function enter(path: string): boolean {
  for (let round = 0; round < ROUNDS; round++) {
    try {
      if (!makeDirectory(path) && !isMarked(path)) return false;
      writeFileSync(`${path}/${ownMark()}`, '', { mode: 0o600 });
      return isLeftToUs(path);
    } catch (error) {
      // It has just been removed.
      if (errnoOf(error) !== 'ENOENT') return false;
    }
  }
  return false;
}

const ROUNDS = 10;

/**
 * A process that was leaving while this one entered may not have seen it. Waits until that process has left.
 */
function isLeftToUs(path: string): boolean {
  for (let waited = 0; waited < LONGEST_LEAVE_MS && marksOf(path).some(isLeaving); waited++) sleepSync(1);
  if (entriesOf(path).length > 0) return true;
  // The directory belongs to another program now.
  attempt(() => unlinkSync(`${path}/${ownMark()}`));
  return false;
}

const LONGEST_LEAVE_MS = 200;

/**
 * Records that this process no longer uses the directory. Returns whether no other process uses it; then none
 * can enter until `left` is called.
 */
function startLeaving(path: string): boolean {
  const leaving = `${path}/${ownMark()}${LEAVING}`;
  try {
    renameSync(`${path}/${ownMark()}`, leaving);
  } catch {
    // This process never used it.
    attempt(() => writeFileSync(leaving, '', { mode: 0o600 }));
  }
  if (marksOf(path).every(isLeaving)) return true;
  left(path);
  return false;
}

/** Completes `startLeaving`: the last process removes the directory. */
function left(path: string): void {
  attempt(() => unlinkSync(`${path}/${ownMark()}${LEAVING}`));
  attempt(() => rmdirSync(path));
}

/** Also empty if anything else is in the directory: then it belongs to another program. */
function entriesOf(path: string): readonly string[] {
  try {
    const names = readdirSync(path);
    return names.every(isOurs) ? names : [];
  } catch {
    return [];
  }
}

/**
 * Whether the directory is only a placeholder. One that was just made, or is about to be removed, is empty
 * for a moment.
 * @throws ENOENT if it is gone.
 */
function isMarked(path: string): boolean {
  for (let waited = 0; ; waited++) {
    const names = readdirSync(path);
    if (names.length > 0 || waited === LONGEST_EMPTY_MS) return names.length > 0 && names.every(isOurs);
    sleepSync(1);
  }
}

const LONGEST_EMPTY_MS = 30;

/** The marks of live processes. Marks that others have left behind are removed. */
function marksOf(path: string): readonly string[] {
  return entriesOf(path).filter((name) => {
    if (name === INNER) return false;
    if (!isGone(name)) return true;
    attempt(() => unlinkSync(`${path}/${name}`));
    return false;
  });
}

const LEAVING = '-leaving';
const MARK = new RegExp(`^toolexec-placeholder-([0-9a-f]{${TAG_DIGITS}})-[0-9a-f]{8}(?:${LEAVING})?$`);

function ownMark(): string {
  return `toolexec-placeholder-${ownTag()}-${OWN}`;
}

function isOurs(name: string): boolean {
  return name === INNER || MARK.test(name);
}

function isLeaving(mark: string): boolean {
  return mark.endsWith(LEAVING);
}

/** A process that cannot be seen from here may still be alive. */
function isGone(mark: string): boolean {
  const tag = MARK.exec(mark)?.[1];
  return tag !== undefined && tag !== ownTag() && fateOf(tag) === 'gone';
}

/** Returns whether the step worked: another process may be faster, or still need the directory. */
function attempt(step: () => void): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}
