import { chmodSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { binaryEntry, binaryNames, renameBinary, toBinary } from './binary-fs.js';

/** Removes a directory with all that is in it, also where a directory in it is closed to us. Never throws. */
export function removeTree(path: string): void {
  try {
    rmSync(path, HOW);
  } catch {
    try {
      openUp(toBinary(path));
      rmSync(path, HOW);
    } catch {
      // It is not ours to remove.
    }
  }
}

/** The same beside the event loop. Never rejects. */
export async function removeTreeLater(path: string): Promise<void> {
  try {
    await rm(path, { ...HOW, maxRetries: 3 });
  } catch {
    removeTree(path);
  }
}

const HOW = { recursive: true, force: true } as const;

/**
 * An overlay closes a directory of its own, and a command any that it likes; a command can also make paths that are
 * longer than the system takes: what lies that deep is moved up. No link is followed.
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

/** Names in it have 255 bytes at most, and a path 4,095. */
const LONG = 1000;
