import { systemClock } from '../../platform/clock/clock.js';
import {
  type BinaryPath,
  binaryEntry,
  holdDirectory,
  readBinaryFile,
  removeBinary,
  toBinary,
  toText,
  writeNewBinary,
} from '../../platform/fs/binary-fs.js';
import { errnoOf } from '../../platform/fs/fs-entry.js';
import { fateOf, ownTag } from '../../platform/process/process-tag.js';
import { readWhole, writeWhole } from '../../platform/process/transaction-directory.js';

/** Git's own locks, held while changes in repositories are compared and committed. */
export interface GitLocks {
  release(): void;
}

/**
 * Takes the locks that git would take. If this process dies, a list of them stays in the transaction's
 * directory.
 * @returns the lock that another git still holds after the time limit
 */
export async function takeGitLocks(
  directory: string,
  locks: readonly BinaryPath[],
): Promise<GitLocks | { readonly heldBy: BinaryPath }> {
  const taken: BinaryPath[] = [];
  const release = (): void => {
    for (const lock of taken.splice(0)) removeOwn(lock);
  };
  if (locks.length > 0) writeWhole(listOf(directory), JSON.stringify(locks));
  const start = systemClock.monotonic();
  for (const lock of locks) {
    for (let answer = take(lock); answer !== 'not possible'; answer = take(lock)) {
      if (answer === 'taken') {
        taken.push(lock);
        break;
      }
      if (systemClock.monotonic() - start > LIMIT_MS) {
        release();
        return { heldBy: lock };
      }
      await new Promise<void>((resolve) => systemClock.after(PAUSE_MS, resolve));
    }
  }
  return { release };
}

/** Resolves when another git has released its lock, or after the time limit. */
export async function whileLocked(isLocked: () => boolean): Promise<void> {
  const start = systemClock.monotonic();
  while (isLocked() && systemClock.monotonic() - start < LIMIT_MS) {
    await new Promise<void>((resolve) => systemClock.after(PAUSE_MS, resolve));
  }
}

/** Removes the locks that a dead process has left. */
export function removeLeftLocks(directory: string): void {
  const text = readWhole(listOf(directory));
  if (text === undefined) return;
  for (const lock of JSON.parse(text) as BinaryPath[]) removeOwn(lock);
}

function listOf(directory: string): string {
  return `${directory}/locks.json`;
}

/**
 * Git's commands hold a lock for moments; a git that waits for an editor holds it until the editor is closed.
 */
const LIMIT_MS = 3000;
const PAUSE_MS = 15;

function take(lock: BinaryPath): 'taken' | 'held' | 'not possible' {
  return (
    inDirectory(lock, (at) => {
      try {
        writeNewBinary(at, contentOfLocks());
        return 'taken';
      } catch (error) {
        if (errnoOf(error) !== 'EEXIST') return 'not possible';
        if (fateOf(tagIn(at)) === 'gone') removeBinary(at);
        return 'held';
      }
    }) ?? 'not possible'
  );
}

function removeOwn(lock: BinaryPath): void {
  inDirectory(lock, (at) => {
    const tag = tagIn(at);
    if (tag === ownTag() || fateOf(tag) === 'gone') removeBinary(at);
  });
}

/** Enters the directory without following links. Undefined if it is missing or cannot be entered. */
function inDirectory<T>(lock: BinaryPath, use: (at: BinaryPath) => T): T | undefined {
  const slash = lock.lastIndexOf('/');
  const parent = toText(lock.slice(0, slash));
  if (toBinary(parent) !== lock.slice(0, slash)) return undefined;
  try {
    const held = holdDirectory(parent);
    if (held === undefined) return undefined;
    try {
      return use(`${held.at}/${lock.slice(slash + 1)}`);
    } finally {
      held.close();
    }
  } catch {
    return undefined;
  }
}

const MARK = 'toolexec ';

function contentOfLocks(): string {
  return `${MARK}${ownTag()}\n`;
}

/** Empty if it is not one of ours. */
function tagIn(at: BinaryPath): string {
  const entry = binaryEntry(at);
  if (entry?.kind !== 'file' || entry.size > 200) return '';
  const text = readBinaryFile(at).toString('latin1').trim();
  return text.startsWith(MARK) ? text.slice(MARK.length) : '';
}
