import { randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { sleepSync } from './clock/clock.js';
import { errnoOf, makeDirectory } from './fs/fs-entry.js';
import { fateOf, ownTag, TAG_DIGITS } from './process-tag.js';

/** Where something is made aside. */
export const INNER = 'toolexec-new';

/** Each thread has its own. */
export const OWN = randomBytes(4).toString('hex');

/**
 * Makes a directory, if there is none, and writes into it that we need it. Who leaves says so before it looks for
 * others, and who enters says so before it looks for those who leave: one of them sees the other.
 * @returns false where it is somebody's own, or cannot be made.
 */
export function enter(path: string): boolean {
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
  // It has become somebody's.
  attempt(() => unlinkSync(`${path}/${ownMark()}`));
  return false;
}

const LONGEST_LEAVE_MS = 200;

/** Says that we need it no more, and leaves. Answers whether nobody else needs it: then nobody comes until `left`. */
export function startLeaving(path: string): boolean {
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

/** Ends what `startLeaving` has started: whoever is the last of all takes the directory away. */
export function left(path: string): void {
  attempt(() => unlinkSync(`${path}/${ownMark()}${LEAVING}`));
  attempt(() => rmdirSync(path));
}

/** Empty, too, when anything else is in it: then it is somebody's. */
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
export function isMarked(path: string): boolean {
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

/** Of one that cannot be seen from here, nobody knows that it is gone. */
function isGone(mark: string): boolean {
  const tag = MARK.exec(mark)?.[1];
  return tag !== undefined && tag !== ownTag() && fateOf(tag) === 'gone';
}

/** Whether it could be done: somebody else may be quicker, or still need it. */
export function attempt(step: () => void): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}
