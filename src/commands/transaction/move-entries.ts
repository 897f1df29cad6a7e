import { createHash } from 'node:crypto';
import {
  type BinaryPath,
  binaryEntry,
  copyBinary,
  linkBinary,
  removeBinary,
  renameBinary,
  syncBinary,
} from '../../platform/fs/binary-fs.js';
import { errnoOf } from '../../platform/fs/fs-entry.js';
import { ownTag, TAG_DIGITS } from '../../platform/process/process-tag.js';
import { Conflict } from './held-places.js';
import { KEPT_BYTES } from './transaction-plan.js';

/*
 * Entries move between a root and a transaction's directory by rename on one file system, otherwise by copy.
 * An incomplete copy never has the final name, and the original is removed when the copy is on the disk.
 */

/** Gives an entry that is about to be replaced a second name, so that its own name is never missing. */
export function keepOld(at: BinaryPath, old: BinaryPath): void {
  const kept = beforeReplaced(old);
  removeIfThere(kept);
  try {
    linkBinary(at, kept);
  } catch (error) {
    if (!isElsewhere(error)) throw error;
    if (canBeKept(at)) copyToOurs(at, kept);
  }
}

/**
 * The entry was replaced. A program that watches the file itself (`tsc --watch`) learns from this rename that it must
 * watch the new one: the old one still has a name, so the kernel does not report it as removed.
 */
export function finishOld(old: BinaryPath): void {
  const kept = beforeReplaced(old);
  if (binaryEntry(kept) !== undefined) renameBinary(kept, old);
}

function beforeReplaced(old: BinaryPath): BinaryPath {
  return `${old}.kept`;
}

/** Moves a removed entry into a directory of ours. */
export function moveAside(at: BinaryPath, old: BinaryPath): void {
  try {
    renameBinary(at, old);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    if (binaryEntry(old) === undefined && canBeKept(at)) copyToOurs(at, old);
    removeBinary(at);
  }
}

/**
 * By a copy. All transactions together have a size limit, and pipes, sockets and devices cannot be copied.
 */
export function canBeKept(at: BinaryPath): boolean {
  const entry = binaryEntry(at);
  return (entry?.kind === 'file' || entry?.kind === 'link') && entry.size <= KEPT_BYTES;
}

/**
 * Into a directory of ours, where an earlier attempt may have left an incomplete copy.
 * @param isSynced false: the caller brings it to the disk
 */
export function copyToOurs(from: BinaryPath, to: BinaryPath, isSynced = true): void {
  const part = `${to}.part`;
  removeIfThere(part);
  try {
    copyBinary(from, part);
    renameBinary(part, to);
    if (isSynced) syncBinary(to);
  } catch (error) {
    removeIfThere(part);
    throw error;
  }
}

export interface Move {
  readonly from: BinaryPath;
  readonly at: BinaryPath;
  /** Replaces an existing entry; otherwise none may exist. */
  readonly replaces: boolean;
  /** The name of an incomplete copy, in the directory of `at`. */
  readonly temporary: string;
}

/** @throws Conflict if an entry exists that must not be replaced */
export function moveInto({ from, at, replaces, temporary }: Move): void {
  const place = replaces ? renameBinary : renameToFree;
  try {
    place(from, at);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    const copy = beside(at, temporary);
    removeIfThere(copy);
    try {
      copyBinary(from, copy);
      syncBinary(copy);
      place(copy, at);
    } catch (failure) {
      removeIfThere(copy);
      throw failure;
    }
    removePlaced(from, at);
  }
}

/** Removes the original of an entry that has its final name already, perhaps since an earlier attempt. */
export function removePlaced(from: BinaryPath, at: BinaryPath): void {
  const [original, placed] = [binaryEntry(from), binaryEntry(at)];
  if (original?.dev !== placed?.dev || original?.ino !== placed?.ino) syncBinary(at);
  removeBinary(from);
}

/** Removes the incomplete copy of a dead process. */
export function sweepCopy(at: BinaryPath, temporary: string): void {
  removeIfThere(beside(at, temporary));
}

function beside(at: BinaryPath, name: string): BinaryPath {
  return `${at.slice(0, at.lastIndexOf('/'))}/${name}`;
}

/** The same for each attempt at a step, so that the completing process finds it. */
export function temporaryName(directory: BinaryPath, index: number): string {
  return ownName('a', directory, `${index}`);
}

/**
 * The name of the landing directory in a root, or of its remains. File tools remove leftover files with the mark `a`,
 * but not this.
 */
export function landingName(directory: BinaryPath, what: 'landing' | 'leaving' = 'landing'): string {
  return ownName('c', directory, what);
}

function ownName(mark: string, directory: BinaryPath, what: string): string {
  const tag = OWN_DIRECTORY.exec(directory)?.[1] ?? ownTag();
  const digits = createHash('sha256').update(`${directory}/${what}`).digest('hex').slice(0, 12);
  return `.toolexec-${mark}${tag}${digits}.tmp`;
}

const OWN_DIRECTORY = new RegExp(`-([0-9a-f]{${TAG_DIGITS}})-[0-9a-f]{16}$`);

/** The transaction directory with a new version: an undo takes them from another transaction. */
export function ownDirectoryOf(from: BinaryPath): BinaryPath | undefined {
  return IN_OWN_DIRECTORY.exec(from)?.[1];
}

const IN_OWN_DIRECTORY = new RegExp(`^(.*/transaction-[0-9a-f]{${TAG_DIGITS}}-[0-9a-f]{16})/`, 's');

/** Fails if the name is taken: the only check without a race. */
function renameToFree(from: BinaryPath, at: BinaryPath): void {
  try {
    linkBinary(from, at);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST') throw new Conflict('something else has been put there');
    if (!isElsewhere(error) || errno === 'EXDEV') throw error;
    renameBinary(from, at);
    return;
  }
  removeBinary(from);
}

function removeIfThere(path: BinaryPath): void {
  if (binaryEntry(path) !== undefined) removeBinary(path);
}

/** A hard link is not possible. */
function isElsewhere(error: unknown): boolean {
  return ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP'].includes(errnoOf(error) ?? '');
}
