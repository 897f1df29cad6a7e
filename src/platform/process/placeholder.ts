import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { sleepSync } from '../clock/clock.js';
import { errnoOf, makeDirectory } from '../fs/fs-entry.js';
import { fateOf, ownTag, TAG_DIGITS } from './process-tag.js';

export interface Placeholder {
  /** An empty directory in it, for all who hold it: what they make is theirs until the last of them goes. */
  readonly inner: string;
  readonly release: () => void;
}

/** Takes of what was made in `inner` what shall stay, once no program holds the placeholder any more. The rest is removed. */
export type KeepMade = (inner: string, path: string) => void;

/**
 * Makes a directory where there is none, for as long as a command needs it: then something can be mounted on it. Who
 * needs it has a file in it, so that the last one to go, of whichever process, takes it away, and no other does.
 * Undefined where another program has made a directory meanwhile, or it cannot be made.
 */
export function holdPlaceholder(path: string, keepMade: KeepMade): Placeholder | undefined {
  const count = holders.get(path)?.count;
  if (count === undefined && !enter(path)) return undefined;
  tidyAtExit();
  holders.set(path, { count: (count ?? 0) + 1, keepMade });
  attempt(() => mkdirSync(`${path}/${INNER}`));
  return { inner: `${path}/${INNER}`, release: () => leave(path) };
}

/** Takes away what processes have left that were killed. */
export function sweepPlaceholder(path: string, keepMade: KeepMade): void {
  if (!holders.has(path) && isPlaceholder(path)) takeAway(path, keepMade);
}

/** Whether a directory is there for this only. */
export function isPlaceholder(path: string): boolean {
  try {
    return holders.has(path) || isMarked(path);
  } catch {
    return false;
  }
}

/** How many of this process hold it. */
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
  // Most often nothing was made in it.
  if (!attempt(() => rmdirSync(`${path}/${INNER}`))) keepRest(path, keepMade);
  left(path);
}

/** Unless it is gone. */
function keepRest(path: string, keepMade: KeepMade): void {
  // From now on it is not taken for a placeholder.
  const taken = `${path}/${INNER}-${OWN}`;
  attempt(() => {
    renameSync(`${path}/${INNER}`, taken);
    keepMade(taken, path);
  });
  attempt(() => rmSync(taken, { recursive: true, force: true }));
}

/** Where something is made aside. */
const INNER = 'toolexec-new';

/** Each thread has its own. */
const OWN = randomBytes(4).toString('hex');

/**
 * Makes a directory, if there is none, and writes into it that we need it. Who leaves says so before it looks for
 * others, and who enters says so before it looks for those who leave: one of them sees the other.
 * @returns false where it is another program's own, or cannot be made.
 */
function enter(path: string): boolean {
  for (let round = 0; round < ROUNDS; round++) {
    try {
      if (!makeDirectory(path) && !isMarked(path)) return false;
      writeFileSync(`${path}/${ownMark()}`, '', { mode: 0o600 });
      return isLeftToUs(path);
    } catch (error) {
      // It has just been taken away.
      if (errnoOf(error) !== 'ENOENT') return false;
    }
  }
  return false;
}

const ROUNDS = 10;

/** A program that was leaving when we came may not have seen us, and has to be done. */
function isLeftToUs(path: string): boolean {
  for (let waited = 0; waited < LONGEST_LEAVE_MS && marksOf(path).some(isLeaving); waited++) sleepSync(1);
  if (entriesOf(path).length > 0) return true;
  // It has become another program's.
  attempt(() => unlinkSync(`${path}/${ownMark()}`));
  return false;
}

const LONGEST_LEAVE_MS = 200;

/** Marks that this process needs it no more. Answers whether no other needs it: then none can enter until `left`. */
function startLeaving(path: string): boolean {
  const leaving = `${path}/${ownMark()}${LEAVING}`;
  try {
    renameSync(`${path}/${ownMark()}`, leaving);
  } catch {
    // We were never in it.
    attempt(() => writeFileSync(leaving, '', { mode: 0o600 }));
  }
  if (marksOf(path).every(isLeaving)) return true;
  left(path);
  return false;
}

/** Ends what `startLeaving` has started: the last process of all removes the directory. */
function left(path: string): void {
  attempt(() => unlinkSync(`${path}/${ownMark()}${LEAVING}`));
  attempt(() => rmdirSync(path));
}

/** Empty, too, when anything else is in it: then it is another program's. */
function entriesOf(path: string): readonly string[] {
  try {
    const names = readdirSync(path);
    return names.every(isOurs) ? names : [];
  } catch {
    return [];
  }
}

/**
 * Whether a directory is there for this only. One that has just been made, or is about to go, is empty for a moment.
 * @throws ENOENT where it has gone.
 */
function isMarked(path: string): boolean {
  for (let waited = 0; ; waited++) {
    const names = readdirSync(path);
    if (names.length > 0 || waited === LONGEST_EMPTY_MS) return names.length > 0 && names.every(isOurs);
    sleepSync(1);
  }
}

const LONGEST_EMPTY_MS = 30;

/** Of those who live. What others have left is removed. */
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

/** One that cannot be seen from here may still live. */
function isGone(mark: string): boolean {
  const tag = MARK.exec(mark)?.[1];
  return tag !== undefined && tag !== ownTag() && fateOf(tag) === 'gone';
}

/** Whether it could be done: another process may be quicker, or still need it. */
function attempt(step: () => void): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}
