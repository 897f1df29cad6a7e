import { timeSlices } from '../../platform/clock/time-slices.js';
import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  readableNames,
} from '../../platform/fs/binary-fs.js';
import type { BegunState } from './begun-state.js';
import type { LeftOut, ScannedRoot } from './found-changes.js';

/** An entry that the command removed, and that another program has removed or moved too. */
export interface GoneTwice {
  readonly root: number;
  readonly path: BinaryPath;
}

/**
 * A command that moves an entry has its content, and so has another program that moved the same entry elsewhere: then
 * both copies would exist, which is the result of neither order. If the other program removed the entry, it would not
 * have it afterwards either way, and nothing is in conflict.
 *
 * A moved entry is one that is older than the command, has a newer change time, and had another name when the command
 * began. One that was moved out of the roots is not found.
 */
export async function conflictsOfMoves(
  gone: readonly GoneTwice[],
  roots: readonly ScannedRoot[],
  begun: BegunState,
): Promise<readonly LeftOut[]> {
  if (gone.length === 0) return [];
  for (const { lower } of roots) {
    if (await hasMovedEntry(lower, begun))
      return gone.map((one) => ({ ...one, isDirectory: false, reason: MOVED, isConflict: true }));
  }
  return [];
}

const MOVED = 'another program moved it while the command ran';

async function hasMovedEntry(root: BinaryPath, begun: BegunState): Promise<boolean> {
  const slices = timeSlices();
  const waiting = [root];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (slices.isOver()) await slices.next();
    for (const name of readableNames(at)) {
      const path = `${at}/${name}`;
      const entry = attempt(() => binaryEntry(path));
      if (entry === undefined) continue;
      if (isMoved(entry, begun) && begun.isNewName(path)) return true;
      if (entry.kind === 'dir' && name !== '.git') waiting.push(path);
    }
  }
  return false;
}

function isMoved({ bornNs, ctimeNs }: BinaryEntry, begun: BegunState): boolean {
  return begun.isOld(bornNs) && !begun.isOld(ctimeNs);
}

/** Other programs remove entries meanwhile. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
