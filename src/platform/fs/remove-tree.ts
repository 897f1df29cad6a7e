import { chmodSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { binaryEntry, binaryNames, renameBinary, toBinary } from './binary-fs.js';

/**
 * Removes a directory with everything in it, even if this user has no access to a directory inside. Never
 * throws.
 */
export function removeTree(path: string): void {
  try {
    rmSync(path, HOW);
  } catch {
    try {
      openUp(toBinary(path));
      rmSync(path, HOW);
    } catch {
      // This user may not remove it.
    }
  }
}

/** The same in the background. Never rejects. */
export async function removeTreeLater(path: string): Promise<void> {
  try {
    await rm(path, { ...HOW, maxRetries: 3 });
  } catch {
    removeTree(path);
  }
}

const HOW = { recursive: true, force: true } as const;

/**
 * Gives this user access to every directory of the tree. An overlay locks one of its own directories, and a command can
 * lock any. A command can also make paths that are longer than the system accepts: directories
 * that deep are moved up. No link is followed.
 */
function openUp(top: string): void {
  const waiting = [top];
  let moved = 0;
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    chmodSync(Buffer.from(path, 'latin1'), 0o700);
    for (const name of binaryNames(path)) {
      const at = `${path}/${name}`;
      if (binaryEntry(at)?.kind !== 'dir') continue;
      if (at.length < top.length + LONG) waiting.push(at);
      else {
        const up = `${top}/.toolexec-up-${moved++}`;
        renameBinary(at, up);
        waiting.push(up);
      }
    }
  }
}

/** A name has 255 bytes at most, a path 4,095. */
const LONG = 1000;
